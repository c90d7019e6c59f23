// An address in a tracee. It has its own type, so that nobody can mistake it for a pointer of the tracer.
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

  /// The sum wraps at 64 bits, as it would in the tracee. Reading from the result may fail.
  [[nodiscard]] constexpr RemoteAddr operator+(std::uint64_t offset) const { return RemoteAddr(value_ + offset); }
  constexpr auto operator<=>(const RemoteAddr&) const = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace base
}  // namespace tracer
