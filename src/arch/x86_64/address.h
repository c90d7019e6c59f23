// Address arithmetic at the width of the traced program.
#pragma once

#include <cstdint>

#include "base/abi.h"

namespace tracer::arch {

/// Truncates a sum of addresses to 32 bits for i386 programs.
inline std::uint64_t truncated(Abi abi, std::uint64_t value) {
  return abi == Abi::i386 ? static_cast<std::uint32_t>(value) : value;
}

}  // namespace tracer::arch
