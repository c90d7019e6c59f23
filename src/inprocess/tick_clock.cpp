#include "inprocess/tick_clock.h"

#include <algorithm>
#include <limits>

#include "arch/call_registers.h"
#include "base/clock.h"

namespace tracer::inprocess {

TickClock::TickClock() : first_(read()), last_(first_) {}

TickClock::Reading TickClock::read() {
  // We may lose the processor between two clocks, for longer than what is measured takes.
  constexpr int tries = 3;
  Reading best{};
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i != tries; ++i) {
    const std::uint64_t before = arch::clock_ticks();
    Reading reading{0, clock_now(CLOCK_MONOTONIC), clock_now(CLOCK_REALTIME)};
    reading.ticks = arch::clock_ticks();
    const std::uint64_t taken = reading.ticks - before;
    if (taken < least) {
      best = reading;
      least = taken;
    }
  }
  return best;
}

void TickClock::look() {
  last_ = read();
  rate_ = last_.ticks == first_.ticks ? 0
                                      : static_cast<double>((last_.monotonic - first_.monotonic).count()) /
                                            static_cast<double>(last_.ticks - first_.ticks);
}

trace::EventTime TickClock::time_at(std::uint64_t ticks) {
  // A tracee can write what it likes where its ticks are.
  constexpr auto longest = std::chrono::hours(1);
  const double ago = static_cast<double>(static_cast<std::int64_t>(last_.ticks - ticks)) * rate_;
  const auto bounded = std::clamp(ago, -1e9, static_cast<double>(std::chrono::nanoseconds(longest).count()));
  latest_ = std::max(latest_, last_.monotonic - std::chrono::nanoseconds(static_cast<std::int64_t>(bounded)));
  latest_ = std::min(latest_, last_.monotonic);
  return {last_.realtime - (last_.monotonic - latest_), latest_};
}

std::chrono::nanoseconds TickClock::duration(std::uint64_t ticks) const {
  constexpr double longest = 1e18;  // which a tracee may exceed, as it writes what it likes
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(static_cast<double>(ticks) * rate_, longest)));
}

}  // namespace tracer::inprocess
