// Whether to look for the next stop a few times before sleeping for it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace tracer::ptrace {

/// A tracer that sleeps in wait4 is woken at each stop, and where its CPU has halted meanwhile that costs several times
/// what serving the stop does. One that polls for a moment is there when the stop comes. But where CPUs are scarce,
/// what it burns is what the tracee wants. Neither is known beforehand, so both are tried in turns now and then, and
/// what brought the stops sooner is kept until the next trial. Polling must gain an eighth to be chosen.
///
/// It does not read clocks and does not wait: its user reports stops and the time, by any clock that does not run
/// backwards.
class PollTuner {
 public:
  using Time = std::chrono::nanoseconds;

  /// `may_poll`: false if there is one CPU only, so that a tracee could never run while its tracer polls.
  explicit PollTuner(bool may_poll) : may_poll_(may_poll) {}

  /// Whether to poll for the next stop, for `patience` at most.
  [[nodiscard]] bool polls() const { return polls_; }
  static constexpr Time patience = std::chrono::microseconds(30);

  /// Stops come again after a pause, whose length says nothing.
  void resumed(Time now) {
    batch_began_ = now;
    left_ = trial_ < trials ? batch : left_;
  }

  /// A stop has come. `clock()` is called once in many.
  template <typename Clock>
  void came(const Clock& clock) {
    if (--left_ == 0) {
      batch_over(clock());
    }
  }

 private:
  static constexpr unsigned batch = 32;  ///< stops
  static constexpr std::size_t trials = 4;
  static constexpr unsigned shortest_rest = 2048;
  static constexpr unsigned longest_rest = 65536;

  void batch_over(Time now);

  bool may_poll_;
  bool polls_ = false;
  bool chosen_ = false;    ///< by the last trial
  std::size_t trial_ = 0;  ///< even ones sleep, odd ones poll; `trials`: none is under way
  std::array<Time, trials> taken_{};
  Time batch_began_{};
  unsigned left_ = batch;
  unsigned rest_ = shortest_rest;
};

}  // namespace tracer::ptrace
