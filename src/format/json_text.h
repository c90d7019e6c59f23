// Formats numbers and strings as JSON without loss, even for readers that keep numbers as doubles and strings as
// Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::format {

/// Appends a number from -2^53 to 2^53, which every reader keeps exactly (RFC 8259, section 6), as a number; any other
/// as a string of its digits.
void append_json_integer(TextBuffer& text, std::int64_t value);
void append_json_integer(TextBuffer& text, std::uint64_t value);

/// Appends `"…"`, with each byte that is not valid UTF-8 as \u00NN. It is meant for the tracer's own text and for text
/// that is escaped already.
void append_json_string(TextBuffer& text, std::string_view string);

/// Appends bytes of a tracee: `"…"` if they are UTF-8, else `{"bytes":"48e9…"}` in hexadecimal. If they were truncated,
/// appends `{"string":"…","truncated":true}` or `{"bytes":"…","truncated":true}` without a character that is
/// incomplete.
void append_json_bytes(TextBuffer& text, std::span<const std::byte> data, bool cut);

}  // namespace tracer::format
