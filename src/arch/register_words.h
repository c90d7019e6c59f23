// The register set NT_PRSTATUS. It has 64-bit words ("wide"), or 32-bit words ("narrow") for a 32-bit thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tracer::arch {

template <std::size_t wide_words, std::size_t narrow_words>
class RegisterWords {
 public:
  std::span<std::byte> buffer() { return std::as_writable_bytes(std::span(words_)); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)).first(size_); }
  bool resize(std::size_t size) {
    if (size != wide_size && size != narrow_size) {
      return false;
    }
    size_ = size;
    return true;
  }
  friend bool operator==(const RegisterWords&, const RegisterWords&) = default;

 protected:
  [[nodiscard]] bool narrow() const { return size_ == narrow_size; }

  /// Returns a register by its index in the wide set and its index in the narrow set.
  [[nodiscard]] std::uint64_t get(std::size_t wide_index, std::size_t narrow_index) const {
    if (!narrow()) {
      return words_[wide_index];
    }
    std::uint32_t value = 0;
    std::memcpy(&value, bytes().data() + narrow_index * sizeof value, sizeof value);
    return value;
  }
  void set(std::size_t wide_index, std::size_t narrow_index, std::uint64_t value) {
    if (!narrow()) {
      words_[wide_index] = value;
      return;
    }
    const auto low = static_cast<std::uint32_t>(value);
    std::memcpy(buffer().data() + narrow_index * sizeof low, &low, sizeof low);
  }

 private:
  static constexpr std::size_t wide_size = wide_words * 8;
  static constexpr std::size_t narrow_size = narrow_words * 4;

  std::array<std::uint64_t, wide_words> words_{};
  std::size_t size_ = wide_size;
};

}  // namespace tracer::arch
