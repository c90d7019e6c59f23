#include "cli/injection.h"

#include <fmt/core.h>

#include <cerrno>

#include "base/number_text.h"
#include "cli/values.h"
#include "filter/set_text.h"
#include "spec/signal_names.h"

namespace tracer::cli {
namespace {

constexpr std::uint32_t max_count = 65535;
constexpr std::uint32_t no_end = Injection::no_end;
constexpr std::size_t max_poke_digits = 2048;
constexpr unsigned max_poke_argument = 7;
constexpr std::uint64_t max_error = 4095;

/// Returns what follows `key=` in `action`.
std::optional<std::string_view> value_of(std::string_view action, std::string_view key) {
  if (action.size() > key.size() && action.starts_with(key) && action[key.size()] == '=') {
    return action.substr(key.size() + 1);
  }
  return std::nullopt;
}

/// Parses a number as strtoull(3) with base 0 does; `-1` is the largest.
std::optional<std::uint64_t> read_any_base(std::string_view text) {
  const bool plus = text.find('+') != std::string_view::npos;
  text = filter::skip_space_and_plus(text);
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
  }
  const auto number = whole_number<std::uint64_t>(text, base);
  if (!number || (plus && negative)) {
    return std::nullopt;
  }
  return negative ? ~*number + 1 : *number;
}

/// Parses `FIRST[..LAST][+[STEP]]`.
bool read_when(std::string_view text, Injection& injection) {
  const auto plus = text.find('+');
  const auto range = text.substr(0, plus);
  const auto dots = range.find("..");
  const auto first = read_number(range.substr(0, dots), 1, max_count);
  if (plus == 0) {  // `+N` is a signed N
    const auto only = read_number(text, 1, max_count);
    injection.first = injection.last = static_cast<std::uint16_t>(only.value_or(0));
    injection.step = 1;
    return only.has_value();
  }
  if (!first) {
    return false;
  }
  std::uint32_t last = dots == std::string_view::npos && plus == std::string_view::npos ? *first : no_end;
  if (dots != std::string_view::npos) {
    const auto end = read_number(range.substr(dots + 2), *first, no_end - 1);
    if (!end) {
      return false;
    }
    last = *end;
  }
  std::uint32_t step = 1;
  if (plus != std::string_view::npos && plus + 1 < text.size()) {
    const auto given = read_number(text.substr(plus + 1), 1, max_count);
    if (!given) {
      return false;
    }
    step = *given;
  }
  injection.first = static_cast<std::uint16_t>(*first);
  injection.last = static_cast<std::uint16_t>(last);
  injection.step = static_cast<std::uint16_t>(step);
  return true;
}

/// Parses `@argN=HEX`.
std::optional<Poke> read_poke(std::string_view text) {
  constexpr std::string_view lead = "@arg";
  const auto equals = text.find('=');
  if (!text.starts_with(lead) || equals != lead.size() + 1) {
    return std::nullopt;
  }
  Poke poke;
  poke.argument = static_cast<unsigned>(text[lead.size()] - '0');
  auto digits = text.substr(equals + 1);
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
  }
  if (poke.argument < 1 || poke.argument > max_poke_argument || digits.empty() || digits.size() % 2 != 0 ||
      digits.size() > max_poke_digits) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto value = whole_number<unsigned>(digits.substr(i, 2), 16);
    if (!value) {
      return std::nullopt;
    }
    poke.data.push_back(static_cast<std::byte>(*value));
  }
  return poke;
}

bool read_pokes(std::string_view text, std::vector<Poke>& pokes) {
  if (!pokes.empty()) {
    return false;
  }
  for (const auto part : split(text, ',')) {
    auto poke = read_poke(part);
    if (!poke) {
      return false;
    }
    for (const Poke& other : pokes) {
      if (other.argument == poke->argument) {
        return false;
      }
    }
    pokes.push_back(std::move(*poke));
  }
  return !pokes.empty();
}

bool read_delay(std::string_view text, std::optional<std::chrono::nanoseconds>& delay) {
  if (delay) {
    return false;
  }
  delay = read_duration(text);
  return delay.has_value();
}

void warn_about_retval(std::uint64_t value, std::vector<std::string>& warnings) {
  const auto number = std::to_string(value);
  const auto word = static_cast<std::uint32_t>(value);
  if (value >= ~max_error + 1) {
    warnings.push_back(fmt::format("Inadvertent injection of error {} is possible for retval={}", ~value + 1, number));
  } else if (const std::uint32_t error = ~word + 1; error != 0 && error <= max_error) {
    warnings.push_back(fmt::format("Inadvertent injection of error {} is possible in compat personality for retval={}",
                                   error, number));
  } else if (value != word) {
    warnings.push_back(
        fmt::format("Injected return value {} will be clipped to {} in compat personality", number, word));
  }
}

class ActionReader {
 public:
  ActionReader(Tampering kind, const filter::SyscallNames& names, std::vector<std::string>& warnings)
      : kind_(kind), names_(names), warnings_(warnings) {}

  bool read(std::string_view action) {
    if (const auto when = value_of(action, "when")) {
      return read_when(*when, result);
    }
    if (const auto name = value_of(action, "syscall")) {
      const bool first = result.syscall.empty();
      result.syscall = *name;
      return first && filter::in_class_everywhere(*name, spec::CallClass::pure, names_);
    }
    if (const auto error = value_of(action, "error")) {
      const bool first = !result.error && !result.retval;
      result.error = read_errno(*error);
      return first && result.error.has_value();
    }
    return kind_ == Tampering::inject && read_inject_only(action);
  }

  /// Applies defaults; returns false if there is no action.
  bool finish() {
    if (kind_ == Tampering::fault && !result.error) {
      result.error = ENOSYS;
    }
    return result.error || result.retval || result.signal || result.delay_enter || result.delay_exit ||
           !result.poke_enter.empty() || !result.poke_exit.empty();
  }

  Injection result;

 private:
  bool read_inject_only(std::string_view action) {
    if (const auto value = value_of(action, "retval")) {
      const bool first = !result.error && !result.retval;
      result.retval = read_any_base(*value);
      if (first && result.retval) {
        warn_about_retval(*result.retval, warnings_);
      }
      return first && result.retval.has_value();
    }
    if (const auto name = value_of(action, "signal")) {
      const auto signal = filter::parse_signal(*name);
      const bool good = !result.signal && signal && *signal >= 1 && *signal <= spec::max_signal;
      result.signal = good ? std::optional(static_cast<int>(*signal)) : std::nullopt;
      return good;
    }
    if (const auto delay = value_of(action, "delay_enter")) {
      return read_delay(*delay, result.delay_enter);
    }
    if (const auto delay = value_of(action, "delay_exit")) {
      return read_delay(*delay, result.delay_exit);
    }
    if (const auto pokes = value_of(action, "poke_enter")) {
      return read_pokes(*pokes, result.poke_enter);
    }
    if (const auto pokes = value_of(action, "poke_exit")) {
      return read_pokes(*pokes, result.poke_exit);
    }
    return false;
  }

  Tampering kind_;
  const filter::SyscallNames& names_;
  std::vector<std::string>& warnings_;
};

}  // namespace

Result<Injection> parse_injection(std::string_view text, Tampering kind, const filter::SyscallNames& names,
                                  std::vector<std::string>& warnings) {
  const auto colon = text.find(':');
  const auto set_text = text.substr(0, colon);
  const auto kind_name = kind == Tampering::inject ? "inject argument" : "fault argument";
  if (set_text.empty()) {
    return filter::invalid_item("system call", set_text);
  }
  ActionReader reader(kind, names, warnings);
  if (colon != std::string_view::npos) {
    for (const auto action : split(text.substr(colon + 1), ':')) {
      if (!reader.read(action)) {
        return filter::invalid_item(kind_name, text);
      }
    }
  }
  auto calls = filter::parse_syscall_set(set_text, names);
  if (!calls) {
    return calls.error();
  }
  if (!reader.finish()) {
    return filter::invalid_item(kind_name, text);
  }
  reader.result.calls = std::move(calls).value();
  return std::move(reader.result);
}

}  // namespace tracer::cli
