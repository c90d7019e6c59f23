#include "decode/wide_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace tracer::decode {
std::optional<WideText> read_wide_text(const trace::Memory& memory, RemoteAddr address, std::uint64_t most,
                                       std::span<std::byte> into, unsigned width) {
  const std::size_t room = into.size() / longest_utf8;
  WideText text;
  for (std::size_t i = 0; i <= room; ++i) {
    if (i == most) {
      text.is_cut = false;
      break;
    }
    std::uint64_t character = 0;
    const auto raw = std::as_writable_bytes(std::span(&character, 1)).first(width);
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
      text.size += utf8_encode(static_cast<std::uint32_t>(std::min<std::uint64_t>(character, ~std::uint32_t{0})),
                               into.subspan(text.size).first<longest_utf8>());
    }
  }
  return text;
}

}  // namespace tracer::decode
