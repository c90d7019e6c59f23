// Takes all rights from a process that reads hostile files.
#pragma once

#include <cstdint>

namespace tracer::debuginfo {

/// Leaves the process what it needs to compute with descriptors that it has or receives, and `memory` bytes more than
/// it has now; another process can raise that to `most_memory` (prlimit(2)). Cannot be undone. Returns false if that is
/// not possible here.
bool enter_sandbox(std::uint64_t memory, std::uint64_t most_memory);

}  // namespace tracer::debuginfo
