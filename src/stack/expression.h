// Evaluates the DWARF expressions (DWARF 5, 2.5) that call frame information uses.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <span>

#include "arch/frame_registers.h"
#include "trace/memory.h"

namespace tracer::stack {

/// Returns the value on top of the stack at the end. Empty if the expression is malformed, takes too many steps, or
/// reads an unknown register or unreadable memory.
std::optional<std::uint64_t> evaluate(std::span<const Dwarf_Op> operations, const arch::FrameRegisters& registers,
                                      const trace::Memory& memory, std::optional<std::uint64_t> cfa);

}  // namespace tracer::stack
