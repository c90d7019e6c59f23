// The clock of the programs in the kernel, which know nothing of time namespaces (time_namespaces(7)).
#pragma once

#include <chrono>
#include <cstdint>

namespace tracer::bpf {

/// Returns how far that clock is ahead of CLOCK_MONOTONIC here: it read `theirs` between two looks at ours. It is so
/// far ahead at least, and by no more than the time between the looks beyond that; 0 in the kernel's own namespace.
[[nodiscard]] inline std::chrono::nanoseconds kernel_clock_offset(std::chrono::nanoseconds before, std::uint64_t theirs,
                                                                  std::chrono::nanoseconds after) {
  const std::chrono::nanoseconds there(theirs);
  return there < before || there > after ? there - after : std::chrono::nanoseconds(0);
}

}  // namespace tracer::bpf
