// What an expression of the descriptions comes to.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace tracer::decode {

/// A number of eight bytes, or none where what it would be made of is not known. std::optional would do, but it is
/// returned in two registers, of which one is put together from a byte and from nothing: that waits for the memory each
/// time, and it happens dozens of times in a call.
template <std::integral T>
class Known {
  static_assert(sizeof(T) == sizeof(std::uint64_t));

 public:
  constexpr Known() = default;
  // NOLINTBEGIN(google-explicit-constructor): as those of std::optional are not.
  constexpr Known(std::nullopt_t) {}
  template <std::integral Number>
  constexpr Known(Number number) : number_(static_cast<T>(number)), known_(1) {}
  template <std::integral Number>
  constexpr Known(const std::optional<Number>& number) : Known(number ? Known(*number) : Known()) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] friend constexpr bool operator==(const Known&, const Known&) = default;
  [[nodiscard]] constexpr bool has_value() const { return known_ != 0; }
  [[nodiscard]] constexpr explicit operator bool() const { return known_ != 0; }
  [[nodiscard]] constexpr T operator*() const { return number_; }
  [[nodiscard]] constexpr T value_or(T other) const { return known_ != 0 ? number_ : other; }

 private:
  T number_ = 0;
  std::uint64_t known_ = 0;
};

using Value = Known<std::int64_t>;
using Count = Known<std::uint64_t>;

}  // namespace tracer::decode
