// Little helpers of the custom decoders.
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "base/text_buffer.h"
#include "decode/custom.h"
#include "format/constants.h"

namespace tracer::decoders {

/// An unsigned number of `width` bytes at an offset of a copy; 0 past its end.
inline std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t offset, unsigned width) {
  std::uint64_t value = 0;
  if (offset + width <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, width);
  }
  return value;
}

inline std::uint64_t bit_of(std::span<const std::byte> bytes, std::size_t bit) {
  return bit / 8 < bytes.size() ? std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1U : 0U;
}

/// A constant in a spelling: by its name, its number or both. Without a name, `unknown` stands behind the number.
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

/// devices.cpp: as in C, what cannot be printed in hexadecimal: `'S'`, `'\t'`, `'\x05'`. `by_name`: a tabulator and
/// the like by what C calls them.
void append_character(TextBuffer& text, unsigned character, bool by_name = true);

}  // namespace tracer::decoders
