// Numbers and strings of JSON, without loss: what a reader that keeps numbers as doubles and strings as Unicode would
// spoil is written so that it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::format {

/// A number from -2^53 to 2^53 (RFC 8259, section 6: what every reader keeps exactly), else a string of its digits.
void append_json_integer(TextBuffer& text, std::int64_t value);
void append_json_integer(TextBuffer& text, std::uint64_t value);

/// `"…"`; of text that is not UTF-8, each odd byte as \u00NN. For our own words and for text that is escaped already.
void append_json_string(TextBuffer& text, std::string_view string);

/// Bytes of a tracee: `"…"` if they are UTF-8, else `{"bytes":"48e9…"}` in hexadecimal. If they were cut, the form is
/// `{"string":"…","truncated":true}` or `{"bytes":"…","truncated":true}`, and a character cut in two is left out.
void append_json_bytes(TextBuffer& text, std::span<const std::byte> data, bool cut);

}  // namespace tracer::format
