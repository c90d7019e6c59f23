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

}  // namespace base
}  // namespace tracer
