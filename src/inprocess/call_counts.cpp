#include "inprocess/call_counts.h"

#include <algorithm>
#include <cstring>

#include "arch/call_registers.h"
#include "arch/syscall_abi.h"

namespace tracer::inprocess {
namespace {

/// A copy, as the tracee may write there at any time.
template <typename T>
T copy_of(const T& shared) {
  T copy;
  std::memcpy(&copy, &shared, sizeof copy);
  return copy;
}

}  // namespace

void settle_count(Area& area, std::int64_t result) {
  ThreadArea& thread = area.thread;
  if (copy_of(thread.making) != making_counted) {
    return;
  }
  Counter& counter = area.counters[copy_of(thread.number) % numbers_per_abi];
  if (copy_of(thread.is_counted) == 0) {
    const std::uint64_t started = copy_of(thread.started);
    const std::uint64_t taken = started == 0 ? 0 : arch::clock_ticks() - started;
    thread.counted = with_call(copy_of(counter), is_error(result), taken);
    thread.is_counted = 1;
  }
  counter = copy_of(thread.counted);
}

void CallCounts::take(Area& area) {
  if (copy_of(area.thread.phase) == phase_leaving) {
    settle_count(area, static_cast<std::int64_t>(copy_of(area.thread.result)));
  }
  for (std::size_t word = 0; word < std::size(area.thread.has_counted); ++word) {
    const std::uint64_t bits = copy_of(area.thread.has_counted[word]);
    for (std::size_t bit = 0; bits != 0 && bit < 64; ++bit) {
      if ((bits >> bit & 1) == 0) {
        continue;
      }
      const std::size_t number = 64 * word + bit;
      const Counter part = copy_of(area.counters[number]);
      area.counters[number] = {};
      Counter& sum = sums_[number];
      if (part.calls != 0) {
        sum.shortest = sum.calls == 0 ? part.shortest : std::min(sum.shortest, part.shortest);
        sum.longest = std::max(sum.longest, part.longest);
        sum.calls += part.calls;
        sum.errors += std::min(part.errors, part.calls);
        sum.total += part.total;
      }
    }
    area.thread.has_counted[word] = 0;
  }
}

std::vector<trace::CallTotals> CallCounts::totals(const TickClock& clock) const {
  std::vector<trace::CallTotals> result;
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    const Counter& sum = sums_[number];
    if (sum.calls != 0) {
      trace::CallTotals totals;
      totals.abi = arch::native_abi();
      totals.number = number;
      totals.calls = sum.calls;
      totals.errors = sum.errors;
      totals.wall = {clock.duration(sum.total), clock.duration(sum.shortest), clock.duration(sum.longest)};
      result.push_back(std::move(totals));
    }
  }
  return result;
}

}  // namespace tracer::inprocess
