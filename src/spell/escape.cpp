#include "spell/escape.h"

#include <algorithm>
#include <cstdint>

namespace tracer::spell {
namespace {

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

/// `unprintable(character, index)` writes what has neither a letter nor is plain.
template <typename Unprintable>
void escape(TextBuffer& text, std::span<const std::byte> data, std::string_view also, Unprintable unprintable) {
  const std::string_view all(reinterpret_cast<const char*>(data.data()), data.size());
  std::size_t done = 0;  // what comes before it stands in the text: characters are mostly plain, and go there together
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto c = std::to_integer<unsigned>(data[i]);
    const char letter = escape_letter(c);
    if (letter == 0 && is_plain(c) && also.find(static_cast<char>(c)) == std::string_view::npos) {
      continue;
    }
    text.append(all.substr(done, i - done));
    done = i + 1;
    if (letter != 0) {
      text.append('\\');
      text.append(letter);
    } else {
      unprintable(c, i);
    }
  }
  text.append(all.substr(done));
}

}  // namespace

void append_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also) {
  escape(text, data, also, [&](unsigned c, std::size_t i) {
    const auto next = i + 1 < data.size() ? std::to_integer<unsigned>(data[i + 1]) : 0;
    append_octal(text, c, next >= '0' && next <= '7');
  });
}

void append_hex_escaped(TextBuffer& text, std::span<const std::byte> data) {
  escape(text, data, {}, [&](unsigned, std::size_t i) { append_hex(text, data.subspan(i, 1)); });
}

void append_hex(TextBuffer& text, std::span<const std::byte> data) {
  for (const std::byte b : data) {
    text.append("\\x");
    text.hex_byte(b);
  }
}

void append_mac(TextBuffer& text, std::span<const std::byte> address) {
  for (std::size_t i = 0; i < address.size(); ++i) {
    text.append(i == 0 ? "" : ":");
    text.hex_byte(address[i]);
  }
}

bool is_printable(std::span<const std::byte> data) {
  return std::all_of(data.begin(), data.end(), [](std::byte b) {
    const auto c = std::to_integer<unsigned>(b);
    return is_plain(c) || (c >= '\t' && c <= '\r');
  });
}

}  // namespace tracer::spell
