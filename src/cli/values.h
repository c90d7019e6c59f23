// Parses the plain values of options.
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

/// Parses a decimal number as strtol(3) does (blanks and `+` may precede it) that is in [`least`, `most`].
[[nodiscard]] std::optional<std::uint32_t> read_number(std::string_view text, std::uint32_t least, std::uint32_t most);

/// Parses a number, with an optional fraction or exponent, and a unit: s, ms, us (the default) or ns.
[[nodiscard]] std::optional<std::chrono::nanoseconds> read_duration(std::string_view text);

/// The argument of --from and --to: a duration, in seconds unless it has a unit, or `@` and seconds since the Epoch.
[[nodiscard]] std::optional<ReplayTime> read_replay_time(std::string_view text);

/// Returns how many digits of the fraction of a second a unit (s, ms, us, ns) stands for.
[[nodiscard]] std::optional<unsigned> read_precision(std::string_view text);

/// Parses an error number from 1 to 4095, or its name in any case.
[[nodiscard]] std::optional<int> read_errno(std::string_view text);

/// Parses a column of -S and -U; `_` and `-` are equal.
[[nodiscard]] std::optional<SummaryColumn> read_summary_column(std::string_view text);

/// Splits `text` at `separator`; leaves out empty parts.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Returns the choice with the name `text`, in any case.
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
