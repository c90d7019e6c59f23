// Looks up registers by their names in the argument strings of static probes (SystemTap SDT notes).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/arch.h"
#include "arch/breakpoint.h"

namespace tracer::arch {

/// Returns the value of a register such as `rdi`, `eax`, `r8b`, or `x3`, `w3`, `sp`, truncated to the width that the
/// name implies. Empty if there is no register of that name.
std::optional<std::uint64_t> named_register(const Registers& registers, std::string_view name);

/// Returns which word of a 64-bit thread's registers (Registers::bytes()) has the register, or a low part of it, that
/// has this name. Empty if there is none.
std::optional<std::uint8_t> register_word(std::string_view name);

/// Returns the number of a vector register such as `xmm3`, or `d3`, `s3`. Empty if the name is not one.
std::optional<unsigned> vector_register(std::string_view name);

/// Returns the base address of the segment `fs` or `gs`; empty if it is unknown or the processor has no segments.
std::optional<std::uint64_t> segment_base(const Registers& registers, std::string_view name,
                                          const ReadRegisterSet& read);

}  // namespace tracer::arch
