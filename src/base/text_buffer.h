// A growing line of text, reused from call to call so that the steady state allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracer {

class TextBuffer {
 public:
  void append(char c) { text_.push_back(c); }
  void append(std::string_view text) { text_.append(text); }
  void append(std::size_t count, char c) { text_.append(count, c); }

  void decimal(std::int64_t value);
  void decimal(std::uint64_t value);
  /// Like printf's `%#x`: `0x2a`, and a bare `0` for zero.
  void hex(std::uint64_t value);
  /// Always `0x` and at least `digits` digits.
  void hex_padded(std::uint64_t value, unsigned digits);
  /// Two digits, without `0x`.
  void hex_byte(std::byte value);
  /// Like printf's `%#o`: `0644`, and a bare `0` for zero.
  void octal(std::uint64_t value);
  /// At least `width` digits, filled with zeros.
  void decimal_padded(std::uint64_t value, unsigned width);

  /// Moves what stands from `position` on and puts `text` before it.
  void insert(std::size_t position, std::string_view text) { text_.insert(position, text); }
  void clear();  ///< Keeps the memory, unless it has become much.
  void truncate(std::size_t size) { text_.resize(size); }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string_view view() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tracer
