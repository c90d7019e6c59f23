#include "decode/wide_text.h"

#include <cstring>

namespace tracer::decode {
namespace {

constexpr std::size_t longest_encoding = 4;

/// UTF-8 (RFC 3629); what is no character becomes U+FFFD.
std::size_t encode(std::uint32_t c, std::span<std::byte, longest_encoding> into) {
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

std::optional<WideText> read_wide_text(const trace::Memory& memory, RemoteAddr address, std::uint64_t most,
                                       std::span<std::byte> into) {
  const std::size_t room = into.size() / longest_encoding;
  WideText text;
  for (std::size_t i = 0; i <= room; ++i) {
    if (i == most) {
      text.is_cut = false;
      break;
    }
    std::uint32_t character = 0;
    const auto raw = std::as_writable_bytes(std::span(&character, 1));
    if (memory.read(address + i * raw.size(), raw) != raw.size()) {
      if (i == 0) {
        return std::nullopt;
      }
      break;
    }
    if (character == 0) {
      text.is_cut = false;
      break;
    }
    if (i < room) {
      text.size += encode(character, into.subspan(text.size).first<longest_encoding>());
    }
  }
  return text;
}

}  // namespace tracer::decode
