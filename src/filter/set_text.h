// Parses the form that all sets on the command line share: `[!]ITEM[,ITEM]…`, `all` or `none`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "filter/choice_set.h"
#include "filter/number_set.h"

namespace tracer::filter {

struct SetText {
  enum class Form : std::uint8_t { none, all, items };
  Form form = Form::items;
  bool inverted = false;                ///< the text starts with an odd number of `!`
  std::vector<std::string_view> items;  ///< views into the text; never empty for Form::items
};

/// Splits `text` into its items and skips empty ones. A text without items is an error; `kind` names the set in its
/// message, `invalid KIND 'TEXT'`.
[[nodiscard]] Result<SetText> split_set(std::string_view text, std::string_view kind);

/// Returns the error `invalid KIND 'ITEM'`.
[[nodiscard]] Error invalid_item(std::string_view kind, std::string_view item);

/// True if the words are equal, ignoring the case of ASCII letters.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

/// Returns `text` without the white space and the plus sign that strtol(3) accepts before a number.
[[nodiscard]] std::string_view skip_space_and_plus(std::string_view text);

/// Parses a number of decimal digits only; nullopt if there is another character or the number exceeds `limit`.
[[nodiscard]] std::optional<std::uint32_t> parse_decimal(std::string_view text, std::uint32_t limit);

/// Parses a set of file descriptors, 0 to 2147483647.
[[nodiscard]] Result<NumberSet> parse_descriptor_set(std::string_view text);

/// Parses a set of signals: numbers from 0 to 255, or names with or without SIG, in either case.
[[nodiscard]] Result<NumberSet> parse_signal_set(std::string_view text);

/// Parses one signal, written as in parse_signal_set; nullopt if it is unknown.
[[nodiscard]] std::optional<std::uint32_t> parse_signal(std::string_view text);

/// Maps a word to an enumerator; several words may map to the same one.
template <typename Choice>
struct ChoiceName {
  std::string_view name;
  Choice choice;
};

/// Parses a set of named choices. `names` must list every choice, because `all` and `!` enumerate it.
template <typename Choice, typename Names>
[[nodiscard]] Result<ChoiceSet<Choice>> parse_choice_set(std::string_view text, std::string_view kind,
                                                         const Names& names) {
  const auto split = split_set(text, kind);
  if (!split) {
    return split.error();
  }
  ChoiceSet<Choice> named;
  for (const auto item : split.value().items) {
    bool known = false;
    for (const ChoiceName<Choice>& candidate : names) {
      if (same_word(candidate.name, item)) {
        named.add(candidate.choice);
        known = true;
      }
    }
    if (!known) {
      return invalid_item(kind, item);
    }
  }
  ChoiceSet<Choice> result;
  for (const ChoiceName<Choice>& candidate : names) {
    const bool is_named = split.value().form == SetText::Form::all || named.has(candidate.choice);
    if (is_named != split.value().inverted) {
      result.add(candidate.choice);
    }
  }
  return result;
}

}  // namespace tracer::filter
