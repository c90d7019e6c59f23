#include "render/json_text.h"

#include <algorithm>

namespace tracer::render {
namespace {

constexpr std::uint64_t largest_exact = std::uint64_t{1} << 53;

using Bytes = std::span<const std::byte>;

/// Length that the first byte announces, 0 if no sequence begins with it (RFC 3629).
std::size_t announced_length(std::byte first) {
  const auto lead = std::to_integer<unsigned>(first);
  return lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

/// Length of the valid UTF-8 sequence at the start, 0 if there is none.
std::size_t utf8_length(Bytes data) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(data[i]); };
  const std::size_t length = announced_length(data[0]);
  if (length == 0 || length > data.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const unsigned lead = at(0);
  const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool surrogate = lead == 0xed && at(1) >= 0xa0;
  const bool too_high = lead == 0xf4 && at(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

/// How many bytes from the start are UTF-8.
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
  const bool cut_in_character = cut && valid < data.size() && announced_length(data[valid]) > data.size() - valid;
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

}  // namespace tracer::render
