#include "cli/values.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>

#include "format/error_names.h"

namespace tracer::cli {
namespace {

constexpr int max_errno = 4095;

}  // namespace

std::optional<std::uint32_t> read_number(std::string_view text, std::uint32_t least, std::uint32_t most) {
  const auto number = filter::parse_decimal(filter::skip_space_and_plus(text), most);
  return number && *number >= least ? number : std::nullopt;
}

std::optional<std::chrono::nanoseconds> read_duration(std::string_view text) {
  text = filter::skip_space_and_plus(text);
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) {
    return std::nullopt;  // signs, inf and nan are invalid
  }
  const std::string whole(text);
  char* unit_start = nullptr;
  const double number = std::strtod(whole.c_str(), &unit_start);
  if (unit_start == whole.c_str() || whole.find_first_of("xX") != std::string::npos) {
    return std::nullopt;
  }
  const std::string_view unit = unit_start;
  double factor = 0;
  if (unit == "s") {
    factor = 1e9;
  } else if (unit == "ms") {
    factor = 1e6;
  } else if (unit == "us" || unit.empty()) {
    factor = 1e3;
  } else if (unit == "ns") {
    factor = 1;
  } else {
    return std::nullopt;
  }
  const double nanoseconds = number * factor;
  constexpr double limit = 9.2e18;  // the limit of std::chrono::nanoseconds
  if (!(nanoseconds < limit)) {
    return std::nullopt;
  }
  return std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double, std::nano>(nanoseconds));
}

std::optional<ReplayTime> read_replay_time(std::string_view text) {
  ReplayTime result;
  result.since_epoch = text.starts_with('@');
  text.remove_prefix(result.since_epoch ? 1 : 0);
  // The seconds since the Epoch have more digits than a floating-point number.
  const std::size_t point = result.since_epoch ? std::min(text.find('.'), text.size()) : 0;
  const auto seconds = filter::parse_decimal(text.substr(0, point), std::numeric_limits<std::uint32_t>::max());
  if (result.since_epoch && !seconds) {
    return std::nullopt;
  }
  std::string rest(text.substr(point));
  if (!rest.empty() && (rest.back() == '.' || (rest.back() >= '0' && rest.back() <= '9'))) {
    rest += 's';
  }
  const auto fraction = result.since_epoch && rest.empty() ? std::chrono::nanoseconds(0) : read_duration(rest);
  if (!fraction) {
    return std::nullopt;
  }
  result.time = *fraction + std::chrono::seconds(result.since_epoch ? *seconds : 0);
  return result;
}

std::optional<unsigned> read_precision(std::string_view text) {
  static constexpr std::array<filter::ChoiceName<unsigned>, 4> names = {{{"s", 0}, {"ms", 3}, {"us", 6}, {"ns", 9}}};
  return read_choice<unsigned>(text, names);
}

std::optional<int> read_errno(std::string_view text) {
  if (const auto number = read_number(text, 1, max_errno)) {
    return static_cast<int>(*number);
  }
  for (int number = 1; number <= max_errno; ++number) {
    const auto name = format::error_name(number);
    if (!name.empty() && filter::same_word(name, text)) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<SummaryColumn> read_summary_column(std::string_view text) {
  using enum SummaryColumn;
  static constexpr std::array<filter::ChoiceName<SummaryColumn>, 30> names = {{
      {"time", time_percent},
      {"time-percent", time_percent},
      {"time-total", total_time},
      {"total-time", total_time},
      {"min-time", min_time},
      {"time-min", min_time},
      {"shortest", min_time},
      {"max-time", max_time},
      {"time-max", max_time},
      {"longest", max_time},
      {"avg-time", avg_time},
      {"time-avg", avg_time},
      {"calls", calls},
      {"count", calls},
      {"errors", errors},
      {"error", errors},
      {"name", name},
      {"syscall", name},
      {"syscall-name", name},
      {"wall-total", wall_total},
      {"total-wall", wall_total},
      {"wall-min", wall_min},
      {"min-wall", wall_min},
      {"wall-max", wall_max},
      {"max-wall", wall_max},
      {"wall-avg", wall_avg},
      {"avg-wall", wall_avg},
      {"p50", p50},
      {"p95", p95},
      {"p99", p99},
  }};
  std::string word(text);
  std::replace(word.begin(), word.end(), '_', '-');
  for (const auto& candidate : names) {
    if (!word.empty() && candidate.name == word) {
      return candidate.choice;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace tracer::cli
