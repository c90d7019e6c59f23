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
  std::uint64_t first_ticks_;
  std::chrono::nanoseconds first_;  ///< by CLOCK_MONOTONIC, as all but `realtime_`
  std::uint64_t ticks_;
  std::chrono::nanoseconds now_;
  double rate_ = 0;                      ///< nanoseconds of a tick
  std::chrono::nanoseconds realtime_{};  ///< CLOCK_REALTIME at `now_`
  std::chrono::nanoseconds latest_{};    ///< that was returned
};

}  // namespace tracer::inprocess
