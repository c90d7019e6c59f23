#include "cli/record_when.h"

#include <fmt/core.h>

#include <optional>
#include <string>

#include "cli/values.h"

namespace tracer::cli {
namespace {

using filter::Trigger;

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(start);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// `exit`, `!=` and `0` of a condition, or `sig`, `in` and `A, B`.
struct Parts {
  std::string_view subject;
  std::string_view comparison;
  std::string_view value;
};

std::optional<Parts> parts_of(std::string_view text) {
  Parts parts;
  text = trimmed(text);
  const std::size_t word = std::min(text.find_first_of(" \t!=<>"), text.size());
  parts.subject = text.substr(0, word);
  text = trimmed(text.substr(word));
  for (const std::string_view comparison : {"==", "!=", ">=", ">", "in "}) {
    if (text.starts_with(comparison) && parts.comparison.empty()) {
      parts.comparison = trimmed(comparison);
      parts.value = trimmed(text.substr(comparison.size()));
    }
  }
  if (parts.comparison == "in") {
    const bool enclosed = parts.value.size() > 2 && parts.value.front() == '(' && parts.value.back() == ')';
    parts.value = enclosed ? parts.value.substr(1, parts.value.size() - 2) : std::string_view{};
  }
  return parts.comparison.empty() || parts.value.empty() ? std::nullopt : std::optional(parts);
}

std::optional<Trigger::Kind> kind_of(std::string_view subject) {
  using Kind = Trigger::Kind;
  constexpr std::pair<std::string_view, Kind> kinds[] = {{"exit", Kind::exit_status},
                                                         {"sig", Kind::signal},
                                                         {"errno", Kind::error},
                                                         {"call", Kind::call},
                                                         {"dur", Kind::duration}};
  for (const auto& [name, kind] : kinds) {
    if (name == subject) {
      return kind;
    }
  }
  return std::nullopt;
}

bool add_value(Trigger& trigger, std::string_view word) {
  std::optional<int> number;
  switch (trigger.kind) {
    case Trigger::Kind::call:
      trigger.names.emplace_back(word);
      return true;
    case Trigger::Kind::signal:
      if (const auto signal = filter::parse_signal(word)) {
        number = static_cast<int>(*signal);
      }
      break;
    case Trigger::Kind::error:
      number = read_errno(word);
      break;
    default:
      if (const auto status = read_number(word, 0, 255)) {
        number = static_cast<int>(*status);
      }
  }
  if (number) {
    trigger.numbers.push_back(*number);
  }
  return number.has_value();
}

std::optional<Trigger> trigger_of(std::string_view text) {
  const auto parts = parts_of(text);
  const auto kind = parts ? kind_of(parts->subject) : std::nullopt;
  if (!kind) {
    return std::nullopt;
  }
  Trigger trigger;
  trigger.kind = *kind;
  const bool compares = parts->comparison == ">" || parts->comparison == ">=";
  if (compares || trigger.kind == Trigger::Kind::duration) {
    const auto duration = read_duration(parts->value);
    trigger.duration = duration.value_or(std::chrono::nanoseconds(0));
    const bool fits = compares && trigger.kind == Trigger::Kind::duration && duration.has_value();
    return fits ? std::optional(trigger) : std::nullopt;
  }
  trigger.negated = parts->comparison == "!=";
  for (const std::string_view word : split(parts->value, ',')) {
    if (!add_value(trigger, trimmed(word))) {
      return std::nullopt;
    }
  }
  return trigger;
}

}  // namespace

Result<std::vector<Trigger>> read_triggers(std::string_view text) {
  std::vector<Trigger> triggers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("||"), text.size());
    const auto trigger = trigger_of(text.substr(0, end));
    if (!trigger) {
      return Error{0, fmt::format("'{}' is no condition such as exit != 0, sig in (SIGSEGV, SIGABRT), errno == EIO, "
                                  "call == execve, dur > 1s",
                                  trimmed(text.substr(0, end)))};
    }
    triggers.push_back(*trigger);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return triggers;
}

}  // namespace tracer::cli
