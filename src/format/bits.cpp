#include "format/bits.h"

#include <bit>

namespace tracer::format {

void append_bits(TextBuffer& text, std::span<const std::byte> bytes) {
  constexpr std::size_t bits_per_byte = 8;
  std::size_t ones = 0;
  for (const std::byte byte : bytes) {
    ones += static_cast<std::size_t>(std::popcount(static_cast<unsigned char>(byte)));
  }
  const std::size_t count = bytes.size() * bits_per_byte;
  const bool inverse = ones > count / 2;
  const auto shows = [&](std::size_t bit) {
    const unsigned byte = std::to_integer<unsigned>(bytes[bit / bits_per_byte]);
    return ((byte >> (bit % bits_per_byte)) & 1U) != (inverse ? 1U : 0U);
  };
  text.append(inverse ? "~<" : "<");
  bool first = true;
  for (std::size_t bit = 0; bit < count; ++bit) {
    if (!shows(bit)) {
      continue;
    }
    std::size_t last = bit;
    while (last + 1 < count && shows(last + 1)) {
      ++last;
    }
    text.append(first ? "" : ",");
    first = false;
    text.decimal(std::uint64_t{bit});
    if (last != bit) {
      text.append('-');
      text.decimal(std::uint64_t{last});
    }
    bit = last;
  }
  text.append('>');
}

}  // namespace tracer::format
