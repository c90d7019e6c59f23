#include "base/utf8.h"

namespace tracer {
inline namespace base {

std::size_t utf8_announced_length(std::byte first) {
  const auto lead = std::to_integer<unsigned>(first);
  return lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

std::size_t utf8_length(std::span<const std::byte> text) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(text[i]); };
  const std::size_t length = utf8_announced_length(text[0]);
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const unsigned lead = at(0);
  const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool surrogate = lead == 0xed && at(1) >= 0xa0;
  const bool too_high = lead == 0xf4 && at(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

std::size_t utf8_encode(std::uint32_t c, std::span<std::byte, longest_utf8> into) {
  constexpr std::uint32_t replacement = 0xfffd;
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
    c = replacement;
  }
  const auto tail = [&](unsigned shift) { return std::byte(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    into[0] = std::byte(c);
    return 1;
  }
  if (c < 0x800) {
    into[0] = std::byte(0xc0 | c >> 6);
    into[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    into[0] = std::byte(0xe0 | c >> 12);
    into[1] = tail(6);
    into[2] = tail(0);
    return 3;
  }
  into[0] = std::byte(0xf0 | c >> 18);
  into[1] = tail(12);
  into[2] = tail(6);
  into[3] = tail(0);
  return 4;
}

}  // namespace base
}  // namespace tracer
