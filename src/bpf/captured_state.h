// Credentials, directories and mappings of a task, from the records of the BPF programs. Private to this directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/task_snapshot.h"

namespace tracer::bpf {

/// Reads the chunks behind an exit. `first_argument` is that of the call.
trace::TaskState state_of(std::span<const std::byte> chunks, std::uint64_t first_argument);

/// What a crash_record holds, which may be cut anywhere.
struct CapturedCrash {
  trace::TaskState state;
  std::uint64_t instruction_pointer = 0;
  std::vector<std::byte> memory;  ///< chunks: registers and stack
};
CapturedCrash crash_of(std::span<const std::byte> record);

}  // namespace tracer::bpf
