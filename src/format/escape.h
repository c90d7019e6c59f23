// Escapes bytes of a tracee so that they are safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::format {

/// Appends C escapes, with the shortest unambiguous octal numbers: `a\n\33\0`. Also escapes the characters in `also`.
void append_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also = {});

/// Like append_escaped, but with `\x1b` in place of octal numbers.
void append_hex_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also = {});

/// Appends every byte as `\x2f`.
void append_hex(TextBuffer& text, std::span<const std::byte> data);

/// -x, -xx: which strings are shown in hexadecimal.
enum class HexStrings : std::uint8_t {
  none,
  characters,  ///< characters that are not printable
  non_ascii,   ///< strings with such characters
  all,
};

/// Appends a string in one of these forms.
void append_string(TextBuffer& text, std::span<const std::byte> data, HexStrings hex, std::string_view also = {});

/// Appends a hardware address, `00:1f:2e:3d:4c:5b`.
void append_mac(TextBuffer& text, std::span<const std::byte> address);

/// True if all bytes are printable ASCII or white space; -x leaves such strings unchanged.
bool is_printable(std::span<const std::byte> data);

}  // namespace tracer::format
