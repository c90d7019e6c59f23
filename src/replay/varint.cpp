#include "replay/varint.h"

#include <bit>
#include <cstring>

namespace tracer::replay {

/// Up to eight bytes at once: numbers of different lengths follow each other, and no processor foresees where each
/// ends.
std::uint64_t Cursor::long_number() {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t top_bits = 0x8080808080808080;
  if (size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at_, sizeof word);
    if (const std::uint64_t ends = ~word & top_bits; ends != 0) {
      at_ += std::countr_zero(ends) / 8 + 1;
      word &= (ends ^ (ends - 1)) & ~top_bits;
      // Pairs of 7 bits, then of 14, then of 28 are moved together.
      word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1U;
      word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2U;
      return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4U;
    }
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at_++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80U) {
      return value;
    }
  }
  return fail();
}

}  // namespace tracer::replay
