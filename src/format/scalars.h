// Formats single values by their style.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "format/constants.h"
#include "spec/style.h"

namespace tracer::format {

/// Appends a number in the given style; styles with symbolic names as under -X abbrev.
void append_number(TextBuffer& text, std::uint64_t bits, spec::Style style, bool is_signed);

/// As append_scalar(), for styles that are not plain decimal numbers.
void append_styled(TextBuffer& text, std::uint64_t bits, const spec::Type& type, ConstantForm form);

/// Whether the number is decimal in every form. Most are.
inline bool is_decimal(const spec::Type& type) {
  return type.style == spec::Style::number || type.style == spec::Style::fd;
}
inline void append_decimal(TextBuffer& text, std::uint64_t bits, bool is_signed) {
  is_signed ? text.decimal(static_cast<std::int64_t>(bits)) : text.decimal(bits);
}

/// Appends a value of any style. `form` applies to the styles that have symbolic names (signal, dirfd, mode, …).
inline void append_scalar(TextBuffer& text, std::uint64_t bits, const spec::Type& type, ConstantForm form) {
  is_decimal(type) ? append_decimal(text, bits, type.is_signed) : append_styled(text, bits, type, form);
}

/// Appends a number of `width` bytes in hexadecimal, in as many characters as it has digits: `0x000007`, `00000000`.
void append_padded(TextBuffer& text, std::uint64_t bits, unsigned width);

/// Returns a scalar type for values that no description declares.
spec::Type scalar_type(unsigned width, bool is_signed, spec::Style style);

/// True if the style shows values of signed types with a sign. Other styles show their bits.
bool is_signed_style(spec::Style style);

/// True if the style's value is a number in JSON.
bool is_plain_number(spec::Style style);

}  // namespace tracer::format
