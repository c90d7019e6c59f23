// Stopped threads that go on later, without anybody waiting for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>

#include "ptrace/tracee.h"

namespace tracer::ptrace {

class HeldThreads {
 public:
  /// Notes that the thread is to go on after `delay`, with this signal.
  void hold(Tracee& tracee, std::chrono::nanoseconds delay, int signal);
  /// When the next one is to go on, by CLOCK_MONOTONIC.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_release() const;
  /// One whose time has come; null if there is none.
  Tracee* take_due(TraceeTable& tracees);
  void clear() { held_.clear(); }

 private:
  /// When to look at which thread; it may be gone by then, or held no longer.
  std::multimap<std::chrono::nanoseconds, pid_t> held_;
};

}  // namespace tracer::ptrace
