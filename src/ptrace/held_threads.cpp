#include "ptrace/held_threads.h"

#include <algorithm>

namespace tracer::ptrace {
namespace {

/// Longer than any run; keeps the arithmetic in range.
constexpr std::chrono::nanoseconds longest_delay = std::chrono::hours(24 * 365 * 50);

std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

void HeldThreads::hold(Tracee& tracee, std::chrono::nanoseconds delay, int signal) {
  tracee.held_until = now() + std::min(delay, longest_delay);
  tracee.held_signal = signal;
  held_.emplace(*tracee.held_until, tracee.tid());
}

std::optional<std::chrono::nanoseconds> HeldThreads::next_release() const {
  return held_.empty() ? std::nullopt : std::optional(held_.begin()->first);
}

Tracee* HeldThreads::take_due(TraceeTable& tracees) {
  while (!held_.empty() && held_.begin()->first <= now()) {
    const auto [time, tid] = *held_.begin();
    held_.erase(held_.begin());
    if (Tracee* tracee = tracees.find(tid); tracee != nullptr && tracee->held_until == time) {
      return tracee;
    }
  }
  return nullptr;
}

}  // namespace tracer::ptrace
