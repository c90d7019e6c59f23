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

/// Appends a value of any style. `form` applies to the styles that have symbolic names (signal, dirfd, mode, …).
inline void append_scalar(TextBuffer& text, std::uint64_t bits, const spec::Type& type, ConstantForm form) {
  if (type.style != spec::Style::number && type.style != spec::Style::fd) {
    append_styled(text, bits, type, form);
  } else if (type.is_signed) {  // most numbers, in every form
    text.decimal(static_cast<std::int64_t>(bits));
  } else {
    text.decimal(bits);
  }
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
