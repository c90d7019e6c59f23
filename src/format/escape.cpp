#include "format/escape.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tracer::format {
namespace {

bool is_plain(unsigned c) {
  return c >= ' ' && c < 0x7f;
}

/// Returns the letter of the C escape for `c`; 0 if there is none.
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

char* put_octal(char* at, unsigned c, bool all_digits) {
  *at++ = '\\';
  if (all_digits || c >= 0100) {
    *at++ = static_cast<char>('0' + (c >> 6));
  }
  if (all_digits || c >= 010) {
    *at++ = static_cast<char>('0' + ((c >> 3) & 7));
  }
  *at++ = static_cast<char>('0' + (c & 7));
  return at;
}

char* put_hex(char* at, unsigned c) {
  constexpr std::string_view digits = "0123456789abcdef";
  *at++ = '\\';
  *at++ = 'x';
  *at++ = digits[c >> 4];
  *at++ = digits[c & 0xf];
  return at;
}

constexpr std::size_t longest_escape = 4;

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::uint64_t top_bits = each_byte << 7U;

/// Whether none of the eight bytes needs an escape. It may be false without a reason, which costs time alone.
bool all_stand_for_themselves(std::uint64_t bytes) {
  const auto is_there = [](std::uint64_t word) { return (word - each_byte) & ~word; };  // a zero, in the byte's top bit
  const std::uint64_t controls = bytes - each_byte * ' ';
  const std::uint64_t above = bytes + each_byte;  // 0x7f, and more
  return ((bytes | controls | above | is_there(bytes ^ each_byte * '"') | is_there(bytes ^ each_byte * '\\')) &
          top_bits) == 0;
}

/// Calls `unprintable(at, character, index)` for characters that are neither plain nor have an escape letter. It writes
/// at most longest_escape characters at `at` and returns their end.
template <typename Unprintable>
void escape(TextBuffer& text, std::span<const std::byte> data, std::string_view also, Unprintable unprintable) {
  constexpr std::size_t chunk_size = 256;  // limits the unused space that append_by reserves
  for (std::size_t begin = 0; begin < data.size(); begin += chunk_size) {
    const std::size_t end = std::min(data.size(), begin + chunk_size);
    text.append_by((end - begin) * longest_escape, [&](char* at) {
      for (std::size_t i = begin; i < end; ++i) {
        if (std::uint64_t bytes = 0; also.empty() && end - i >= sizeof bytes) {
          std::memcpy(&bytes, &data[i], sizeof bytes);
          if (all_stand_for_themselves(bytes)) {
            std::memcpy(at, &bytes, sizeof bytes);
            at += sizeof bytes;
            i += sizeof bytes - 1;
            continue;
          }
        }
        const auto c = std::to_integer<unsigned>(data[i]);
        if (is_plain(c) && c != '"' && c != '\\' && (also.empty() || also.find(static_cast<char>(c)) == also.npos)) {
          *at++ = static_cast<char>(c);
        } else if (const char letter = escape_letter(c); letter != 0) {
          *at++ = '\\';
          *at++ = letter;
        } else {
          at = unprintable(at, c, i);
        }
      }
      return at;
    });
  }
}

}  // namespace

void append_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also) {
  escape(text, data, also, [&](char* at, unsigned c, std::size_t i) {
    const auto next = i + 1 < data.size() ? std::to_integer<unsigned>(data[i + 1]) : 0;
    return put_octal(at, c, next >= '0' && next <= '7');
  });
}

void append_hex_escaped(TextBuffer& text, std::span<const std::byte> data, std::string_view also) {
  escape(text, data, also, [](char* at, unsigned c, std::size_t) { return put_hex(at, c); });
}

void append_hex(TextBuffer& text, std::span<const std::byte> data) {
  for (const std::byte b : data) {
    text.append_by(longest_escape, [b](char* at) { return put_hex(at, std::to_integer<unsigned>(b)); });
  }
}

void append_string(TextBuffer& text, std::span<const std::byte> data, HexStrings hex, std::string_view also) {
  if (hex == HexStrings::all || (hex == HexStrings::non_ascii && !is_printable(data))) {
    append_hex(text, data);
  } else if (hex == HexStrings::characters) {
    append_hex_escaped(text, data, also);
  } else {
    append_escaped(text, data, also);
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

}  // namespace tracer::format
