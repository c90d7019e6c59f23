// What makes a flight recorder write what it holds (--record-when).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::filter {

/// One condition; several are alternatives.
struct Trigger {
  enum class Kind : std::uint8_t {
    exit_status,  ///< a process ended with one of `numbers`
    signal,       ///< a process got one of these signals
    error,        ///< a call failed with one of these errors
    call,         ///< a call has one of `names`
    duration,     ///< a call took at least `duration`
  };
  Kind kind = Kind::exit_status;
  bool negated = false;  ///< none of them, instead of one of them
  std::vector<int> numbers;
  std::vector<std::string> names;
  std::chrono::nanoseconds duration{};

  [[nodiscard]] bool has(int number) const {
    return (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) != negated;
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return (std::find(names.begin(), names.end(), name) != names.end()) != negated;
  }
};

}  // namespace tracer::filter
