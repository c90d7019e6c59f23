#include "render/escape.h"

#include <algorithm>
#include <cstdint>

namespace tracer::render {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_plain(unsigned c) {
  return c >= ' ' && c < 0x7f;
}

/// The letter of a C escape, or 0.
char escape_letter(unsigned c) {
  switch (c) {
    case '\t':
      return 't';
    case '\n':
      return 'n';
    case '\v':
      return 'v';
    case '\f':
      return 'f';
    case '\r':
      return 'r';
    case '"':
      return '"';
    case '\\':
      return '\\';
    default:
      return 0;
  }
}

void append_octal(TextBuffer& text, unsigned c, bool all_digits) {
  text.append('\\');
  if (all_digits || c >= 0100) {
    text.append(static_cast<char>('0' + (c >> 6)));
  }
  if (all_digits || c >= 010) {
    text.append(static_cast<char>('0' + ((c >> 3) & 7)));
  }
  text.append(static_cast<char>('0' + (c & 7)));
}

/// Length of the valid UTF-8 sequence at the start, 0 if there is none (RFC 3629).
std::size_t utf8_length(std::span<const std::byte> data) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(data[i]); };
  const unsigned lead = at(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || length > data.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool surrogate = lead == 0xed && at(1) >= 0xa0;
  const bool too_high = lead == 0xf4 && at(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

}  // namespace

void append_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto c = std::to_integer<unsigned>(data[i]);
    if (const char letter = escape_letter(c); letter != 0) {
      text.append('\\');
      text.append(letter);
    } else if (is_plain(c) && also.find(static_cast<char>(c)) == std::string_view::npos) {
      text.append(static_cast<char>(c));
    } else {
      const auto next = i + 1 < data.size() ? std::to_integer<unsigned>(data[i + 1]) : 0;
      append_octal(text, c, next >= '0' && next <= '7');
    }
  }
}

void append_hex(TextBuffer& text, std::span<const std::byte> data) {
  for (const std::byte b : data) {
    const auto c = std::to_integer<unsigned>(b);
    text.append("\\x");
    text.append(hex_digits[c >> 4]);
    text.append(hex_digits[c & 0xf]);
  }
}

void append_mac(TextBuffer& text, std::span<const std::byte> address) {
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto c = std::to_integer<unsigned>(address[i]);
    text.append(i == 0 ? "" : ":");
    text.append(hex_digits[c >> 4]);
    text.append(hex_digits[c & 0xf]);
  }
}

bool is_printable(std::span<const std::byte> data) {
  return std::all_of(data.begin(), data.end(), [](std::byte b) {
    const auto c = std::to_integer<unsigned>(b);
    return is_plain(c) || (c >= '\t' && c <= '\r');
  });
}

void append_json_escaped(TextBuffer& text, std::span<const std::byte> data) {
  while (!data.empty()) {
    const auto c = std::to_integer<unsigned>(data[0]);
    const auto length = utf8_length(data);
    if (c == '"' || c == '\\') {
      text.append('\\');
      text.append(static_cast<char>(c));
    } else if (length == 0 || c < ' ' || c == 0x7f) {
      text.append("\\u00");
      text.append(hex_digits[c >> 4]);
      text.append(hex_digits[c & 0xf]);
    } else {
      for (std::size_t i = 0; i < length; ++i) {
        text.append(static_cast<char>(data[i]));
      }
    }
    data = data.subspan(std::max<std::size_t>(length, 1));
  }
}

void append_json_escaped(TextBuffer& text, std::string_view data) {
  append_json_escaped(text, std::as_bytes(std::span(data)));
}

}  // namespace tracer::render
