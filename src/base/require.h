// An assertion that stays on in release builds.
#pragma once

namespace tracer {
inline namespace base {

/// Prints `what` with the file and line to standard error, then aborts.
[[noreturn]] void requirement_failed(const char* what, const char* file, int line);

/// Aborts unless `holds`. Use it for invariants of the tracer only, never for data that a tracee controls.
/// The defaults stand in for std::source_location, which clang 14 does not have.
inline void require(bool holds, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]] {
    requirement_failed(what, file, line);
  }
}

}  // namespace base
}  // namespace tracer
