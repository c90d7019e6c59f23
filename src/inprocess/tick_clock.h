// The processor's clock in terms of the kernel's.
#pragma once

#include <chrono>
#include <cstdint>

#include "trace/event.h"

namespace tracer::inprocess {

class TickClock {
 public:
  TickClock();
  /// Looks at all clocks, so that moments near to this one are exact.
  void look();
  /// The time of a moment. Later moments that are asked for have no earlier times.
  [[nodiscard]] trace::EventTime time_at(std::uint64_t ticks);
  /// How long so many ticks take, by the last look().
  [[nodiscard]] std::chrono::nanoseconds duration(std::uint64_t ticks) const;

 private:
  /// One moment by all clocks.
  struct Reading {
    std::uint64_t ticks;
    std::chrono::nanoseconds monotonic;
    std::chrono::nanoseconds realtime;
  };

  static Reading read();

  Reading first_;
  Reading last_;
  double rate_ = 0;                    ///< nanoseconds of a tick
  std::chrono::nanoseconds latest_{};  ///< that was returned, by CLOCK_MONOTONIC
};

}  // namespace tracer::inprocess
