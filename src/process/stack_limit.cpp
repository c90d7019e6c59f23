#include "process/stack_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

namespace tracer::process {

Result<std::optional<rlimit>> raise_stack_limit() {
  constexpr rlim_t usual = rlim_t{8} << 20;
  constexpr rlim_t enough = rlim_t{1} << 20;
  constexpr rlim_t least = rlim_t{128} << 10;
  rlimit given{};
  if (::getrlimit(RLIMIT_STACK, &given) != 0 || given.rlim_cur >= enough) {
    return std::optional<rlimit>();
  }
  // The main thread's stack grows by the limit of the moment.
  const rlimit high{usual, std::max(usual, given.rlim_max)};
  if (::setrlimit(RLIMIT_STACK, &high) == 0) {
    return std::optional(given);
  }
  const rlimit highest{given.rlim_max, given.rlim_max};
  if (given.rlim_max >= least && ::setrlimit(RLIMIT_STACK, &highest) == 0) {
    return std::optional(given);
  }
  return Error{EPERM, fmt::format("the stack may have {} KB, and the tracer needs {}: raise the limit (ulimit -s)",
                                  given.rlim_max >> 10, least >> 10)};
}

}  // namespace tracer::process
