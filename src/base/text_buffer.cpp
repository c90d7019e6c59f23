#include "base/text_buffer.h"

#include <array>
#include <bit>
#include <charconv>

namespace tracer {
inline namespace base {
namespace {

using Digits = std::array<char, 24>;  // 64 bits have 22 octal digits

std::string_view digits_of(Digits& buffer, auto value, int base) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, base).ptr;
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

std::size_t decimal_digits(std::uint64_t value) {
  // 1233/4096 is log10(2), nearly: as many digits as so many bits always have, to which one may come.
  constexpr std::array<std::uint64_t, 20> powers = [] {
    std::array<std::uint64_t, 20> result{};
    std::uint64_t power = 1;
    for (std::uint64_t& each : result) {
      each = power;
      power *= 10;
    }
    return result;
  }();
  const auto bits = static_cast<std::size_t>(std::bit_width(value | 1));
  const std::size_t digits = bits * 1233 >> 12;
  return digits + (value >= powers[digits] ? 1 : 0);
}

/// The digits of 0 to 99.
constexpr std::array<char, 200> two_digits = [] {
  std::array<char, 200> result{};
  for (std::size_t i = 0; i < result.size(); i += 2) {
    result[i] = static_cast<char>('0' + i / 20);
    result[i + 1] = static_cast<char>('0' + i / 2 % 10);
  }
  return result;
}();

/// A buffer lives as long as its tracee thread. One long line must not keep its memory in each of thousands of them.
constexpr std::size_t max_kept = std::size_t{1} << 20;

}  // namespace

void TextBuffer::grow(std::size_t count) {
  constexpr std::size_t min_size = 256;
  storage_.resize(std::max(min_size, 2 * storage_.size() + count));
}

void TextBuffer::insert(std::size_t position, std::string_view text) {
  extend(text.size());
  char* at = storage_.data() + position;
  std::memmove(at + text.size(), at, size_ - text.size() - position);
  copy(at, text);
}

void TextBuffer::clear() {
  if (storage_.size() > max_kept) {
    std::string().swap(storage_);
  }
  size_ = 0;
}

void TextBuffer::append_digits(std::uint64_t value) {
  // The digits are written in place: a copy right after byte-wise stores would miss store-to-load forwarding.
  char* const begin = extend(decimal_digits(value));
  char* at = storage_.data() + size_;
  for (; value >= 100; value /= 100) {
    at -= 2;
    std::memcpy(at, &two_digits[2 * (value % 100)], 2);
  }
  value >= 10 ? void(std::memcpy(begin, &two_digits[2 * value], 2)) : void(*begin = static_cast<char>('0' + value));
}

void TextBuffer::hex(std::uint64_t value) {
  if (value != 0) {
    append("0x");
  }
  Digits buffer;
  append(digits_of(buffer, value, 16));
}

void TextBuffer::hex_padded(std::uint64_t value, unsigned digits) {
  Digits buffer;
  const auto text = digits_of(buffer, value, 16);
  append("0x");
  if (text.size() < digits) {
    append(digits - text.size(), '0');
  }
  append(text);
}

void TextBuffer::hex_byte(std::byte value) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  const auto bits = std::to_integer<unsigned>(value);
  append(hex_digits[bits >> 4]);
  append(hex_digits[bits & 0xf]);
}

void TextBuffer::octal(std::uint64_t value) {
  if (value != 0) {
    append('0');
  }
  Digits buffer;
  append(digits_of(buffer, value, 8));
}

void TextBuffer::decimal_padded(std::uint64_t value, unsigned width) {
  Digits buffer;
  const auto text = digits_of(buffer, value, 10);
  if (text.size() < width) {
    append(width - text.size(), '0');
  }
  append(text);
}

}  // namespace base
}  // namespace tracer
