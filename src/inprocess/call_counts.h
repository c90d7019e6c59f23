// What threads count of their own calls: how often they were made, how many failed, and how long they took.
#pragma once

#include <cstdint>
#include <vector>

#include "inprocess/layout.h"
#include "inprocess/tick_clock.h"
#include "trace/call_totals.h"

namespace tracer::inprocess {

/// The counted call that a thread is in, which is stopped or has ended, is made: counts it if the thread has not.
void settle_count(Area& area, std::int64_t result);

/// The sums of all threads.
class CallCounts {
 public:
  /// Adds what a thread has counted that has ended, or is in no counted call any more. It begins at nothing again.
  void take(Area& area);
  /// All that was taken, in terms of time.
  [[nodiscard]] std::vector<trace::CallTotals> totals(const TickClock& clock) const;

 private:
  std::vector<Counter> sums_ = std::vector<Counter>(numbers_per_abi);
};

}  // namespace tracer::inprocess
