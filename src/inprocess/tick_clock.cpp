#include "inprocess/tick_clock.h"

#include <algorithm>

#include "arch/call_registers.h"
#include "base/clock.h"

namespace tracer::inprocess {

TickClock::TickClock()
    : first_ticks_(arch::clock_ticks()), first_(clock_now(CLOCK_MONOTONIC)), ticks_(first_ticks_), now_(first_) {}

void TickClock::look() {
  realtime_ = clock_now(CLOCK_REALTIME);
  now_ = clock_now(CLOCK_MONOTONIC);
  ticks_ = arch::clock_ticks();
  rate_ = ticks_ == first_ticks_
              ? 0
              : static_cast<double>((now_ - first_).count()) / static_cast<double>(ticks_ - first_ticks_);
}

trace::EventTime TickClock::time_at(std::uint64_t ticks) {
  // A tracee can write what it likes where its ticks are.
  constexpr auto longest = std::chrono::hours(1);
  const double ago = static_cast<double>(static_cast<std::int64_t>(ticks_ - ticks)) * rate_;
  const auto bounded = std::clamp(ago, -1e9, static_cast<double>(std::chrono::nanoseconds(longest).count()));
  latest_ = std::max(latest_, now_ - std::chrono::nanoseconds(static_cast<std::int64_t>(bounded)));
  latest_ = std::min(latest_, now_);
  return {realtime_ - (now_ - latest_), latest_};
}

std::chrono::nanoseconds TickClock::duration(std::uint64_t ticks) const {
  constexpr double longest = 1e18;  // which a tracee may exceed, as it writes what it likes
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(static_cast<double>(ticks) * rate_, longest)));
}

}  // namespace tracer::inprocess
