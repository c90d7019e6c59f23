// Addresses as wide as the program's.
#pragma once

#include <cstdint>

#include "base/abi.h"

namespace tracer::arch {

/// What a sum of addresses comes to where registers have 32 bits.
inline std::uint64_t cut(Abi abi, std::uint64_t value) {
  return abi == Abi::i386 ? static_cast<std::uint32_t>(value) : value;
}

}  // namespace tracer::arch
