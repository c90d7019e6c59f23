// A text buffer that is reused from call to call, so that the steady state does not allocate memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace tracer {
inline namespace base {

/// A call's text consists of a few dozen pieces, most of them a few characters long, so appending is inline.
class TextBuffer {
 public:
  TextBuffer() = default;
  TextBuffer(TextBuffer&& other) noexcept : storage_(std::move(other.storage_)), size_(std::exchange(other.size_, 0)) {}
  TextBuffer& operator=(TextBuffer&& other) noexcept {
    storage_ = std::move(other.storage_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;
  ~TextBuffer() = default;

  void append(char c) {
    if (size_ == storage_.size()) [[unlikely]] {
      grow(1);
    }
    storage_[size_++] = c;
  }
  void append(std::string_view text) { copy(extend(text.size()), text); }
  void append(std::size_t count, char c) { std::fill_n(extend(count), count, c); }

  void decimal(std::int64_t value) {
    if (value < 0) {
      append('-');
    }
    decimal(value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  }
  void decimal(std::uint64_t value) { value < 10 ? append(static_cast<char>('0' + value)) : append_digits(value); }
  /// Like printf's `%#x`: `0x2a`, but `0` for zero.
  void hex(std::uint64_t value);
  /// Appends `0x` and at least `digits` digits.
  void hex_padded(std::uint64_t value, unsigned digits);
  /// Appends two digits without `0x`.
  void hex_byte(std::byte value);
  /// Like printf's `%#o`: `0644`, but `0` for zero.
  void octal(std::uint64_t value);
  /// Appends at least `width` digits, padded with zeros.
  void decimal_padded(std::uint64_t value, unsigned width);

  /// Calls `write(char*)` with space for up to `max_size` characters. It returns the end of what it has written.
  template <typename Write>
  void append_by(std::size_t max_size, const Write& write) {
    char* begin = extend(max_size);
    size_ -= max_size - static_cast<std::size_t>(write(begin) - begin);
  }

  /// Inserts `text` at `position`.
  void insert(std::size_t position, std::string_view text);
  /// Keeps the allocated memory unless it has become large.
  void clear();
  /// Shortens the text. `size` must not exceed the current size.
  void truncate(std::size_t size) { size_ = size; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::string_view view() const { return {storage_.data(), size_}; }

 private:
  /// Makes the text `count` characters longer and returns the start of the new part, which is uninitialised.
  char* extend(std::size_t count) {
    if (storage_.size() - size_ < count) [[unlikely]] {
      grow(count);
    }
    return storage_.data() + std::exchange(size_, size_ + count);
  }
  void grow(std::size_t count);
  void append_digits(std::uint64_t value);

  static void copy(char* to, std::string_view text) {
    // The compiler inlines two copies of constant size, which may overlap; a copy of variable size is a call.
    const char* from = text.data();
    const std::size_t size = text.size();
    const auto in_two = [=](auto piece) {
      auto end = piece;
      std::memcpy(&piece, from, sizeof piece);
      std::memcpy(&end, from + size - sizeof end, sizeof end);
      std::memcpy(to, &piece, sizeof piece);
      std::memcpy(to + size - sizeof end, &end, sizeof end);
    };
    if (size > 2 * sizeof(std::uint64_t)) {
      std::memcpy(to, from, size);
    } else if (size >= sizeof(std::uint64_t)) {
      in_two(std::uint64_t{});
    } else if (size >= sizeof(std::uint32_t)) {
      in_two(std::uint32_t{});
    } else if (size >= sizeof(std::uint16_t)) {
      in_two(std::uint16_t{});
    } else if (size != 0) {
      *to = *from;
    }
  }

  std::string storage_;  ///< the first `size_` characters are the text
  std::size_t size_ = 0;
};

}  // namespace base
}  // namespace tracer
