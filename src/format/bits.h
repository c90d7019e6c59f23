// Formats bit sets as the numbers of their bits.
#pragma once

#include <cstddef>
#include <span>

#include "base/text_buffer.h"

namespace tracer::format {

/// Appends the numbers of the set bits, `<1,3-5>`; bit 0 is the lowest bit of the first byte. If more than half of the
/// bits are set, appends those that are clear, `~<0>`.
void append_bits(TextBuffer& text, std::span<const std::byte> bytes);

}  // namespace tracer::format
