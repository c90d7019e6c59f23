// Sets of bits by their numbers.
#pragma once

#include <cstddef>
#include <span>

#include "base/text_buffer.h"

namespace tracer::format {

/// `<1,3-5>`: the bits that are set, bit 0 being the lowest of the first byte. If more are set than not, those that
/// are not: `~<0>`.
void append_bits(TextBuffer& text, std::span<const std::byte> bytes);

}  // namespace tracer::format
