// Integers and bytes of a trace file: LEB128, zigzag for signed ones, and lengths before texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracer::replay {

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
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
  }
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
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  std::uint64_t number() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80U) {  // most numbers
      return static_cast<unsigned char>(*at_++);
    }
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    return fail();
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>((value >> 1U) ^ (0 - (value & 1U)));
  }
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
  std::uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool failed_ = false;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tracer::replay
