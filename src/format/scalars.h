// The spelling of single values by their style.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "format/constants.h"
#include "spec/style.h"

namespace tracer::format {

/// A plain number: `number`, `hex`, `octal`, and for every other style its spelling as with -X abbrev.
void append_number(TextBuffer& text, std::uint64_t bits, spec::Style style, bool is_signed);

/// A value of any style. `form` concerns the styles that have symbolic names (signal, dirfd, mode, …).
void append_scalar(TextBuffer& text, std::uint64_t bits, const spec::Type& type, ConstantForm form);

/// A scalar type for values that no description names.
spec::Type scalar_type(unsigned width, bool is_signed, spec::Style style);

/// Whether a negative value of the style shows a sign, where its type has one. The others are bits.
bool is_signed_style(spec::Style style);

/// Whether the style's text is a bare decimal number (JSON can then have it as a number).
bool is_plain_number(spec::Style style);

}  // namespace tracer::format
