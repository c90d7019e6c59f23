// Writes messages of protocol buffers (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::pipeline::exports {

/// A message under construction: fields are appended in any order.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void integer(unsigned field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void fixed(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | 1);
    for (unsigned i = 0; i < 8; ++i) {
      bytes_.push_back(static_cast<char>(value >> (8 * i)));
    }
  }
  void real(unsigned field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  /// A string, which must be UTF-8, or bytes.
  void text(unsigned field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned field, const Message& value) { text(field, value.bytes_); }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<char>(value | 0x80));
    }
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace tracer::pipeline::exports
