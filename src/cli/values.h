// Reading the plain values that options take.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "filter/set_text.h"

namespace tracer::cli {

inline constexpr std::uint32_t max_int = 0x7fffffff;

/// A decimal number as strtol(3) reads it (blanks and `+` may lead), whole and from `least` to `most`.
[[nodiscard]] std::optional<std::uint32_t> read_number(std::string_view text, std::uint32_t least, std::uint32_t most);

/// A number, perhaps with a fraction or an exponent, and s, ms, us (also if there is no unit) or ns.
[[nodiscard]] std::optional<std::chrono::nanoseconds> read_duration(std::string_view text);

[[nodiscard]] std::optional<Precision> read_precision(std::string_view text);

/// An error number from 1 to 4095 or its name in any case.
[[nodiscard]] std::optional<int> read_errno(std::string_view text);

/// -S and -U: `_` and `-` are the same.
[[nodiscard]] std::optional<SummaryColumn> read_summary_column(std::string_view text);

/// The parts of `text` between `separator`s; empty ones are left out.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The choice that `text` names in any case.
template <typename Choice, typename Names>
[[nodiscard]] std::optional<Choice> read_choice(std::string_view text, const Names& names) {
  for (const filter::ChoiceName<Choice>& candidate : names) {
    if (filter::same_word(candidate.name, text)) {
      return candidate.choice;
    }
  }
  return std::nullopt;
}

}  // namespace tracer::cli
