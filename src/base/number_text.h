// Parses numbers: digits, with a leading minus for signed types only. There is no prefix, blank or plus sign.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tracer {
inline namespace base {

/// Returns the number at the start of `text`; empty if there is none or Number cannot hold it.
template <typename Number>
[[nodiscard]] std::optional<Number> number_at(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Returns the number that `text` as a whole is; empty if it is none or Number cannot hold it.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace base
}  // namespace tracer
