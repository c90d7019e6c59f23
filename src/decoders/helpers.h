// Helpers of the custom decoders.
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "base/text_buffer.h"
#include "decode/custom.h"
#include "format/constants.h"

namespace tracer::decoders {

/// Returns the unsigned number of `width` bytes at `offset`; 0 if it extends past the end.
inline std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t offset, unsigned width) {
  std::uint64_t value = 0;
  if (offset + width <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, width);
  }
  return value;
}

/// Returns one bit of a bit set, bit 0 being the lowest of the first byte; 0 past the end.
inline std::uint64_t bit_of(std::span<const std::byte> bytes, std::size_t bit) {
  return bit / 8 < bytes.size() ? std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1U : 0U;
}

/// Appends a constant by its name, its number or both, as `form` says. If `name` is empty, appends the number with
/// `unknown` as a comment.
inline void append_named(TextBuffer& text, std::uint64_t bits, std::string_view name, std::string_view unknown,
                         format::ConstantForm form) {
  if (form == format::ConstantForm::abbreviate && !name.empty()) {
    text.append(name);
    return;
  }
  text.hex(bits);
  if (form != format::ConstantForm::raw) {
    text.append(" /* ");
    text.append(name.empty() ? unknown : name);
    text.append(" */");
  }
}

/// Appends a character as a C literal, unprintable ones in hexadecimal: `'S'`, `'\t'`, `'\x05'`. `by_name`: use
/// escapes with letters, such as `\t`. Defined in devices.cpp.
void append_character(TextBuffer& text, unsigned character, bool by_name = true);

}  // namespace tracer::decoders
