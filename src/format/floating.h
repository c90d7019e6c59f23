// Numbers with a fraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/abi.h"
#include "base/text_buffer.h"

namespace tracer::format {

/// The shortest decimal number that reads back as the same value, with a point or an exponent: `2.0`, `1e+300`,
/// `-inf`, `nan`. `bits` are those of a float (`width` 4) or of a double.
void append_floating(TextBuffer& text, std::uint64_t bits, unsigned width);

/// The exact value, as printf's %a shows it: `0x1.4p+1`.
void append_hex_floating(TextBuffer& text, std::uint64_t bits, unsigned width);

/// Whether the number is finite, and so one that JSON can have.
bool is_finite(std::uint64_t bits, unsigned width);

/// The bits of the double nearest to a long double in the ABI's layout: 80 bits of x87 in 12 or 16 bytes (System V ABI,
/// i386 and AMD64 supplements), IEEE 754 binary128 (AAPCS64), a double (AAPCS32). What a double cannot tell apart
/// looks alike.
std::uint64_t double_of_long_double(std::span<const std::byte> raw, Abi abi);

}  // namespace tracer::format
