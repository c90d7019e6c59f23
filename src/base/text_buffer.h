// A growing line of text, reused from call to call so that the steady state allocates nothing.
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

/// A call's text is made of a few dozen pieces, most of them of a few characters: those are copied here and now.
class TextBuffer {
 public:
  TextBuffer() = default;
  TextBuffer(TextBuffer&& other) noexcept : room_(std::move(other.room_)), size_(std::exchange(other.size_, 0)) {}
  TextBuffer& operator=(TextBuffer&& other) noexcept {
    room_ = std::move(other.room_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;
  ~TextBuffer() = default;

  void append(char c) { *more(1) = c; }
  void append(std::string_view text) { copy(more(text.size()), text); }
  void append(std::size_t count, char c) { std::fill_n(more(count), count, c); }

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

  /// Room for up to `most` characters, of which `write(char*)` fills some; it returns where they end.
  template <typename Write>
  void append_by(std::size_t most, const Write& write) {
    char* begin = more(most);
    size_ -= most - static_cast<std::size_t>(write(begin) - begin);
  }

  /// Moves what stands from `position` on and puts `text` before it.
  void insert(std::size_t position, std::string_view text);
  void clear();  ///< Keeps the memory, unless it has become much.
  /// To no more than it has.
  void truncate(std::size_t size) { size_ = size; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::string_view view() const { return {room_.data(), size_}; }

 private:
  /// Makes the text longer and returns where the new part begins, which has no contents yet.
  char* more(std::size_t count) {
    if (room_.size() - size_ < count) {
      grow(count);
    }
    return room_.data() + std::exchange(size_, size_ + count);
  }
  void grow(std::size_t count);

  static void copy(char* to, std::string_view text) {
    // Two copies of a known size that may overlap are done at once; one of any size is a call.
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

  std::string room_;  ///< the text, and what is to come
  std::size_t size_ = 0;
};

}  // namespace base
}  // namespace tracer
