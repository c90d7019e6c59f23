// The kernel's clocks.
#pragma once

#include <time.h>

#include <chrono>

namespace tracer {
inline namespace base {

/// Returns the time of clock_gettime(2). `clock` must be one that every kernel has, since errors are not checked.
[[nodiscard]] inline std::chrono::nanoseconds clock_now(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace base
}  // namespace tracer
