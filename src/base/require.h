// The assertion of this program: it stays on in release builds.
#pragma once

namespace tracer {
inline namespace base {

/// Prints the place and `what`, then aborts.
[[noreturn]] void requirement_failed(const char* what, const char* file, int line);

/// States what must hold if the program is right, whatever a tracee does. Never use it on tracee data.
/// (clang 14 has no std::source_location.)
inline void require(bool holds, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]] {
    requirement_failed(what, file, line);
  }
}

}  // namespace base
}  // namespace tracer
