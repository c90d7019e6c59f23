// Numbers as texts write them: digits, and of signed types a minus before them, nothing else.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tracer {
inline namespace base {

/// The number that a text begins with; empty if it begins with none, or with one that Number cannot hold.
template <typename Number>
[[nodiscard]] std::optional<Number> number_at(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The same of a text that is a number and nothing else.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace base
}  // namespace tracer
