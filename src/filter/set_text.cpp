#include "filter/set_text.h"

#include "base/number_text.h"
#include "spec/signal_names.h"

namespace tracer::filter {
namespace {

constexpr std::uint32_t max_descriptor = 0x7fffffff;
constexpr std::uint32_t max_signal_in_set = 255;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <typename ReadItem>
Result<NumberSet> parse_number_set(std::string_view text, std::string_view kind, ReadItem read_item) {
  const auto split = split_set(text, kind);
  if (!split) {
    return split.error();
  }
  NumberSet set;
  for (const auto item : split.value().items) {
    const std::optional<std::uint32_t> number = read_item(item);
    if (!number) {
      return invalid_item(kind, item);
    }
    set.add(*number);
  }
  if (split.value().inverted != (split.value().form == SetText::Form::all)) {
    set.invert();
  }
  return set;
}

}  // namespace

Error invalid_item(std::string_view kind, std::string_view item) {
  return Error{0, "invalid " + std::string(kind) + " '" + std::string(item) + "'"};
}

Result<SetText> split_set(std::string_view text, std::string_view kind) {
  SetText result;
  std::string_view rest = text;
  while (rest.starts_with('!')) {
    result.inverted = !result.inverted;
    rest.remove_prefix(1);
  }
  if (rest == "none" || rest == "all") {
    result.form = rest == "all" ? SetText::Form::all : SetText::Form::none;
    return result;
  }
  while (!rest.empty()) {
    const auto item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (!item.empty()) {
      result.items.push_back(item);
    }
  }
  if (result.items.empty()) {
    return invalid_item(kind, text);
  }
  return result;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view skip_space_and_plus(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\n\v\f\r");
  text.remove_prefix(start == std::string_view::npos ? text.size() : start);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return text;
}

std::optional<std::uint32_t> parse_decimal(std::string_view text, std::uint32_t limit) {
  const auto number = whole_number<std::uint32_t>(text);
  return number && *number <= limit ? number : std::nullopt;
}

Result<NumberSet> parse_descriptor_set(std::string_view text) {
  return parse_number_set(text, "descriptor", [](std::string_view item) {
    return parse_decimal(skip_space_and_plus(item), max_descriptor);
  });
}

Result<NumberSet> parse_signal_set(std::string_view text) {
  return parse_number_set(text, "signal", parse_signal);
}

std::optional<std::uint32_t> parse_signal(std::string_view text) {
  if (const auto number = parse_decimal(text, max_signal_in_set)) {
    return number;
  }
  for (std::uint32_t number = 1; number <= static_cast<std::uint32_t>(spec::max_signal); ++number) {
    const auto name = spec::signal_name(number);
    if (same_word(name, text) || same_word(name.substr(3), text)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace tracer::filter
