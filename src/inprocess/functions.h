// Which function of a program an address is in, by the table of its unwind information (.eh_frame_hdr, Linux Standard
// Base, "DWARF Extensions"), which is in memory even where the symbols are stripped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/memory.h"

namespace tracer::inprocess {

struct FunctionBounds {
  std::uint64_t start = 0;
  std::uint64_t size = 0;  ///< bytes
};

/// Empty where the address is in no file's code, or that says nothing of it. `map`: of proc::read_memory_map().
std::optional<FunctionBounds> find_function(std::string_view map, const trace::Memory& memory, std::uint64_t address);

}  // namespace tracer::inprocess
