// Bytes of a tracee as text that is safe to print.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::format {

/// C escapes with the shortest unambiguous octal: `a\n\33\0`. The characters `also` are escaped too.
void append_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also = {});

/// The same, but `\x1b` where that has octal numbers.
void append_hex_escaped(TextBuffer& text, std::span<const std::byte> data);

/// Every byte as `\x2f`.
void append_hex(TextBuffer& text, std::span<const std::byte> data);

/// `00:1f:2e:3d:4c:5b`
void append_mac(TextBuffer& text, std::span<const std::byte> address);

/// Only printable ASCII and white space: what -x leaves as it is.
bool is_printable(std::span<const std::byte> data);

}  // namespace tracer::format
