// Waiting for tracees and for the signals that end the tracer, without a race between the two and without a system
// call more than wait4 while there is work.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <variant>

#include "base/result.h"
#include "process/watchdog.h"
#include "ptrace/engine.h"
#include "ptrace/poll_tuner.h"
#include "ptrace/ready_reports.h"
#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// A signal asked the tracer to stop tracing.
struct Interrupted {
  int signal = 0;
};

/// Nothing is left to wait for.
struct NothingLeft {};

/// Nothing happened for a moment; the next wait may be long.
struct Quiet {};

/// The time that next() got has come.
struct Due {};

using Outcome = std::variant<Report, Interrupted, Quiet, Due, NothingLeft>;

/// While one exists, the fatal signals and SIGCHLD are blocked and SIGALRM is the waiter's.
///
/// Busy, it blocks in wait4, after a moment's polling where that pays (PollTuner), and a timer's tick interrupts that a
/// few times a second to look for signals and to see whether anything happened since the last tick. If not, it turns
/// quiet: it stops the timer and sleeps in sigwaitinfo, where SIGCHLD announces reports of tracees. Nothing is lost
/// between the two, as all these signals stay blocked.
class Waiter {
 public:
  /// `also_watched`: one more signal that ends tracing, whatever `interruptible` says; 0 for none.
  Waiter(process::Interruptible interruptible, bool with_system_time, int also_watched);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// `due`: by CLOCK_MONOTONIC, when to come back at the latest. Then it never blocks in wait4, whose timer is coarse.
  /// `alarm`: the same, but somewhat later will do, about as long again as the time until then.
  Outcome next(std::optional<std::chrono::nanoseconds> due = std::nullopt,
               std::optional<std::chrono::nanoseconds> alarm = std::nullopt);

  /// Reports are about to come: Quiet says if they do not, even of one that slept already.
  void expect_reports();

  /// Tracing ends because of this signal: who waits is ended by it where that takes too long (process::Watchdog).
  void ends(int signal);
  /// From now on no signal ends anything, and the terminal's do not stop us.
  void ignore_signals();

 private:
  enum class Mode : std::uint8_t { busy, about_to_sleep, asleep };

  /// What there is to report, as `mode_` has it; as wait_for_any.
  Result<std::optional<Report>> wait();
  [[nodiscard]] int pending_signal() const;
  /// Sleeps until a signal comes, that of a tracee included, or until `due`; the signal if it ends tracing, else 0.
  [[nodiscard]] int sleep(std::optional<std::chrono::nanoseconds> due) const;
  void set_ticking(bool on);
  /// Has the timer tick often enough for an alarm.
  void tick_for(std::chrono::nanoseconds alarm);

  sigset_t watched_;  ///< signals that end tracing
  std::optional<process::Watchdog> watchdog_;
  sigset_t former_mask_;
  struct sigaction former_alarm_;
  struct sigaction former_child_;
  ReadyReports reports_;
  Mode mode_ = Mode::about_to_sleep;
  std::chrono::microseconds tick_;  ///< between ticks
  bool anything_since_tick_ = false;
  unsigned reports_until_look_ = 0;
  PollTuner tuner_;
};

}  // namespace tracer::ptrace
