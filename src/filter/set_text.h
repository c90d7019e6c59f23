// The outer form that all sets on the command line share: `[!]ITEM[,ITEM]…`, `all` or `none`.
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
  bool inverted = false;                ///< an odd number of leading `!`
  std::vector<std::string_view> items;  ///< views into the text; never empty for Form::items
};

/// Takes `text` apart. Empty items are skipped; no item at all is an error. `kind` names the set in the message:
/// `invalid KIND 'TEXT'`.
[[nodiscard]] Result<SetText> split_set(std::string_view text, std::string_view kind);

/// `invalid KIND 'ITEM'`.
[[nodiscard]] Error invalid_item(std::string_view kind, std::string_view item);

/// True if the words differ at most in the case of ASCII letters.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

/// The text without what strtol(3) passes over in front of a number: blanks and a plus sign.
[[nodiscard]] std::string_view without_lead(std::string_view text);

/// Decimal digits only, at most `limit`.
[[nodiscard]] std::optional<std::uint32_t> plain_number(std::string_view text, std::uint32_t limit);

/// Descriptors: 0 to 2147483647.
[[nodiscard]] Result<NumberSet> parse_descriptor_set(std::string_view text);

/// Signals: numbers from 0 to 255, names with or without SIG, in any case.
[[nodiscard]] Result<NumberSet> parse_signal_set(std::string_view text);

/// The number of one signal, written as in a set.
[[nodiscard]] std::optional<std::uint32_t> parse_signal(std::string_view text);

/// A word that stands for an enumerator; several words may stand for the same one.
template <typename Choice>
struct ChoiceName {
  std::string_view name;
  Choice choice;
};

/// Reads a set of named choices; `names` must name every choice, for `all` and `!`.
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
