// Work that tracees wait for, and whose length they can choose: it gets half of the time at most.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace tracer {

class TimeShare {
 public:
  TimeShare() : begun_(clock_now(CLOCK_MONOTONIC)) {}

  /// Returns what `work` returns, or a value of that type made by default, without work, where all work so far has
  /// taken half of the time.
  template <typename Work>
  auto spend_on(const Work& work) {
    const auto start = clock_now(CLOCK_MONOTONIC);
    decltype(work()) result{};
    if (spent_ <= free_time + (start - begun_) / 2) {
      result = work();
      spent_ += clock_now(CLOCK_MONOTONIC) - start;
    }
    return result;
  }

 private:
  /// What work may take before it is measured against the time that has passed.
  static constexpr std::chrono::seconds free_time{2};

  std::chrono::nanoseconds begun_;
  std::chrono::nanoseconds spent_{};
};

}  // namespace tracer
