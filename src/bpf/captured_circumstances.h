// What the kernel's programs tell of a process beside its calls, as others want it. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/circumstances.h"

namespace tracer::bpf {

/// From the chunks behind an exit. `first_argument`: the call's.
trace::Circumstances circumstances_of(std::span<const std::byte> chunks, std::uint64_t first_argument);

/// From a crash_record, which may be cut anywhere.
struct CapturedCrash {
  trace::Circumstances circumstances;
  std::uint64_t instruction_pointer = 0;
  std::vector<std::byte> memory;  ///< chunks: registers and stack
};
CapturedCrash crash_of(std::span<const std::byte> record);

}  // namespace tracer::bpf
