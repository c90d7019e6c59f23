// An address in a tracee. A type of its own, so that it can never be mistaken for a host pointer.
#pragma once

#include <compare>
#include <cstdint>

namespace tracer {
inline namespace base {

class RemoteAddr {
 public:
  constexpr RemoteAddr() = default;
  constexpr explicit RemoteAddr(std::uint64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_null() const { return value_ == 0; }

  /// Offsets wrap as the tracee's own arithmetic would; reading the result may then simply fail.
  [[nodiscard]] constexpr RemoteAddr operator+(std::uint64_t offset) const { return RemoteAddr(value_ + offset); }
  constexpr auto operator<=>(const RemoteAddr&) const = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace base
}  // namespace tracer
