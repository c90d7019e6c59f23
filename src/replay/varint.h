// Integers and bytes of a trace file: LEB128, zigzag for signed ones, and lengths before texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracer::replay {

/// A small number for numbers near 0 of either sign.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (0 - (value & 1U)));
}

/// Appends to a text.
class Encoder {
 public:
  explicit Encoder(std::string& to) : to_(to) {}

  void number(std::uint64_t value) {
    while (value >= 0x80) {
      to_.push_back(static_cast<char>(value | 0x80U));
      value >>= 7U;
    }
    to_.push_back(static_cast<char>(value));
  }
  void signed_number(std::int64_t value) { number(zigzag(value)); }
  void byte(unsigned char value) { to_.push_back(static_cast<char>(value)); }
  /// The difference wraps, as addresses do.
  void difference(std::uint64_t value, std::uint64_t from) { signed_number(static_cast<std::int64_t>(value - from)); }
  void raw(std::string_view text) { to_.append(text); }
  void raw(std::span<const std::byte> bytes) { raw({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }
  void text(std::string_view text) {
    number(text.size());
    raw(text);
  }

 private:
  std::string& to_;
};

/// Reads what an Encoder wrote. Past the end, or behind a number that is too long, everything is zero or empty.
class Cursor {
 public:
  Cursor() = default;
  /// If anything that is not there is read, `failed` becomes true, too, unless it is null.
  explicit Cursor(std::string_view text, bool* failed = nullptr)
      : at_(text.data()), end_(text.data() + text.size()), also_failed_(failed) {}

  std::uint64_t number() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80U) {  // most numbers
      return static_cast<unsigned char>(*at_++);
    }
    return long_number();
  }
  std::int64_t signed_number() { return from_zigzag(number()); }
  std::uint64_t difference(std::uint64_t from) { return from + static_cast<std::uint64_t>(signed_number()); }
  template <typename Number>
  Number as() {
    return static_cast<Number>(number());
  }
  template <typename Number>
  Number as_signed() {
    return static_cast<Number>(signed_number());
  }
  bool flag() { return number() != 0; }
  unsigned char byte() {
    if (at_ == end_) {
      fail();
      return 0;
    }
    return static_cast<unsigned char>(*at_++);
  }
  /// The next byte, which remains; 0 at the end.
  [[nodiscard]] unsigned char peek() const { return at_ == end_ ? 0 : static_cast<unsigned char>(*at_); }
  std::string_view text() { return take(number()); }
  std::string_view take(std::uint64_t size) {
    if (size > this->size()) {
      fail();
      return {};
    }
    const std::string_view taken(at_, static_cast<std::size_t>(size));
    at_ += size;
    return taken;
  }
  std::string_view rest() { return take(size()); }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::uint64_t long_number();
  std::uint64_t fail() {
    failed_ = true;
    if (also_failed_ != nullptr) {
      *also_failed_ = true;
    }
    at_ = end_;
    return 0;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool* also_failed_ = nullptr;
  bool failed_ = false;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tracer::replay
