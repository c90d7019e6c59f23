// Registers by the names that notes of static probes have for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/arch.h"
#include "arch/breakpoint.h"

namespace tracer::arch {

/// `rdi`, `eax`, `r8b`; `x3`, `w3`, `sp`: cut to the width of the name. Empty: there is none of that name.
std::optional<std::uint64_t> named_register(const Registers& registers, std::string_view name);

/// The number of a register for floating-point values: `xmm3`; `d3`, `s3`. Empty: it is none.
std::optional<unsigned> vector_register(std::string_view name);

/// Where segment `fs` or `gs` begins; empty where there are none.
std::optional<std::uint64_t> segment_start(const Registers& registers, std::string_view name,
                                           const ReadRegisterSet& read);

}  // namespace tracer::arch
