// Strings of wchar_t.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/read.h"

namespace tracer::decoders {
namespace {

/// UTF-8 (RFC 3629); what is no character becomes U+FFFD.
std::size_t encode(std::uint32_t c, std::span<std::byte, 4> into) {
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

}  // namespace

/// Up to a zero, as UTF-8. Where it cannot be read on, it ends as if it were cut.
bool wide_text(CustomContext& context) {
  constexpr std::size_t most_characters = 4096;
  const std::size_t limit = std::min<std::size_t>(context.options().string_limit, most_characters);
  std::array<std::byte, 4 * most_characters> text;
  std::size_t size = 0;
  bool is_cut = true;
  for (std::size_t i = 0; i <= limit; ++i) {
    std::array<std::byte, 4> raw{};
    if (context.memory().read(context.address() + i * raw.size(), raw) != raw.size()) {
      if (i == 0) {
        return false;
      }
      break;
    }
    const auto character = static_cast<std::uint32_t>(number_at(raw, 0, 4));
    if (character == 0) {
      is_cut = false;
      break;
    }
    if (i < limit) {
      size += encode(character, std::span(text).subspan(size).first<4>());
    }
  }
  render::StringForm form;
  form.cut = is_cut;
  context.out().bytes(std::span(text).first(size), form);
  return true;
}

}  // namespace tracer::decoders
