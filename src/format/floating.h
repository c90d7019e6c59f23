// Formats floating-point numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/abi.h"
#include "base/text_buffer.h"

namespace tracer::format {

/// Appends the shortest decimal number that reads back as the same value, with a point or an exponent: `2.0`,
/// `1e+300`, `-inf`, `nan`. `bits` are those of a float (`width` 4) or of a double.
void append_floating(TextBuffer& text, std::uint64_t bits, unsigned width);

/// Appends the exact value as printf(3) does for %a: `0x1.4p+1`.
void append_hex_floating(TextBuffer& text, std::uint64_t bits, unsigned width);

/// True if the number is finite; JSON has no other numbers.
bool is_finite(std::uint64_t bits, unsigned width);

/// Returns the bits of the double nearest to a long double in the ABI's layout: 80 bits of x87 in 12 or 16 bytes
/// (System V ABI, i386 and AMD64 supplements), IEEE 754 binary128 (AAPCS64), a double (AAPCS32).
std::uint64_t double_of_long_double(std::span<const std::byte> raw, Abi abi);

}  // namespace tracer::format
