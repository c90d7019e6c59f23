#include "base/printable.h"

#include <span>

#include "base/text_buffer.h"
#include "base/utf8.h"

namespace tracer {
inline namespace base {

namespace {

/// Whether a character of several bytes changes lines, the direction of writing or the state of a terminal.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) {
    return (byte(0) == 0xc2 && byte(1) < 0xa0) || (byte(0) == 0xd8 && byte(1) == 0x9c);  // C1; U+061C
  }
  if (character.size() != 3 || byte(0) != 0xe2) {
    return false;
  }
  const bool mark = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);     // U+200E, U+200F
  const bool separator = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;  // U+2028 to U+202E
  const bool isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;    // U+2066 to U+2069
  return mark || separator || isolate;
}

bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

}  // namespace

std::size_t printable_length(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    return is_plain(text.front()) ? 1 : 0;
  }
  const std::size_t length = utf8_length(std::as_bytes(std::span(text)));
  return is_control(text.substr(0, length)) ? 0 : length;
}

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = is_plain(text[at]) ? 1 : printable_length(text.substr(at));
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

void append_printable(TextBuffer& text, std::string_view name) {
  while (!name.empty()) {
    const std::size_t length = printable_length(name);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(name.front());
      text.append('\\');
      for (const unsigned shift : {6U, 3U, 0U}) {
        text.append(static_cast<char>('0' + (byte >> shift & 7U)));
      }
      name.remove_prefix(1);
    } else {
      text.append(name.substr(0, length));
      name.remove_prefix(length);
    }
  }
}

std::string printable(std::string_view text) {
  if (is_printable(text)) {
    return std::string(text);
  }
  TextBuffer escaped;
  append_printable(escaped, text);
  return std::string(escaped.view());
}

}  // namespace base
}  // namespace tracer
