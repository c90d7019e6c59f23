#include "format/json_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace tracer::format {
namespace {

constexpr std::uint64_t largest_exact = std::uint64_t{1} << 53;

using Bytes = std::span<const std::byte>;

/// Returns the length of the longest prefix that is valid UTF-8.
std::size_t valid_prefix(Bytes data) {
  std::size_t length = 0;
  while (length < data.size()) {
    const std::size_t next = utf8_length(data.subspan(length));
    if (next == 0) {
      break;
    }
    length += next;
  }
  return length;
}

void append_quoted(TextBuffer& text, Bytes data) {
  text.append('"');
  while (!data.empty()) {
    const auto c = std::to_integer<unsigned>(data[0]);
    const std::size_t length = utf8_length(data);
    if (c == '"' || c == '\\') {
      text.append('\\');
      text.append(static_cast<char>(c));
    } else if (length == 0 || c < ' ' || c == 0x7f) {
      text.append("\\u00");
      text.hex_byte(data[0]);
    } else if (length == 2 && c == 0xc2 && data[1] < std::byte{0xa0}) {  // C1: 8-bit controls of terminals
      text.append("\\u00");
      text.hex_byte(data[1]);
    } else {
      for (const std::byte byte : data.first(length)) {
        text.append(static_cast<char>(byte));
      }
    }
    data = data.subspan(std::max<std::size_t>(length, 1));
  }
  text.append('"');
}

}  // namespace

void append_json_integer(TextBuffer& text, std::int64_t value) {
  if (value >= 0) {
    append_json_integer(text, static_cast<std::uint64_t>(value));
    return;
  }
  const bool exact = value >= -static_cast<std::int64_t>(largest_exact);
  text.append(exact ? "" : "\"");
  text.decimal(value);
  text.append(exact ? "" : "\"");
}

void append_json_integer(TextBuffer& text, std::uint64_t value) {
  const bool exact = value <= largest_exact;
  text.append(exact ? "" : "\"");
  text.decimal(value);
  text.append(exact ? "" : "\"");
}

void append_json_string(TextBuffer& text, std::string_view string) {
  append_quoted(text, std::as_bytes(std::span(string)));
}

void append_json_bytes(TextBuffer& text, Bytes data, bool cut) {
  const std::size_t valid = valid_prefix(data);
  const bool cut_in_character = cut && valid < data.size() && utf8_announced_length(data[valid]) > data.size() - valid;
  const bool is_text = valid == data.size() || cut_in_character;
  if (is_text && !cut) {
    append_quoted(text, data);
    return;
  }
  text.append(is_text ? "{\"string\":" : "{\"bytes\":");
  if (is_text) {
    append_quoted(text, data.first(valid));
  } else {
    text.append('"');
    for (const std::byte byte : data) {
      text.hex_byte(byte);
    }
    text.append('"');
  }
  text.append(cut ? ",\"truncated\":true}" : "}");
}

}  // namespace tracer::format
