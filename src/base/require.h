// The assertion of this program: it stays on in release builds.
#pragma once

#include <source_location>

namespace tracer {

/// Prints the place and `what`, then aborts.
[[noreturn]] void requirement_failed(const char* what, const std::source_location& where);

/// States what must hold if the program is right, whatever a tracee does. Never use it on tracee data.
inline void require(bool holds, const char* what, const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    requirement_failed(what, where);
  }
}

}  // namespace tracer
