// DWARF expressions (DWARF 5, 2.5), as far as call frame information uses them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <span>

#include "arch/frame_registers.h"
#include "trace/memory.h"

namespace tracer::stack {

/// The value on top of the stack at the end. Empty for what is malformed, takes too long, or reads what is not there.
std::optional<std::uint64_t> evaluate(std::span<const Dwarf_Op> operations, const arch::FrameRegisters& registers,
                                      const trace::Memory& memory, std::optional<std::uint64_t> cfa);

}  // namespace tracer::stack
