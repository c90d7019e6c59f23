#include "ptrace/waiter.h"

#include <sched.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>

#include "process/ending_signals.h"

namespace tracer::ptrace {
namespace {

constexpr std::chrono::microseconds longest_tick{50'000};
constexpr std::chrono::microseconds shortest_tick{500};
constexpr unsigned reports_between_looks = 8;  // a thread that steps over an instruction may take 0.1 s for each

void tick(int) {}

int usable_cpus() {
  cpu_set_t cpus;
  return ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

std::chrono::nanoseconds monotonic_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

Waiter::Waiter(process::Interruptible interruptible, bool with_system_time, int also_watched)
    : reports_(with_system_time), tick_(longest_tick), tuner_(usable_cpus() > 1) {
  process::EndingSignals signals = process::ending_signals(interruptible);
  if (also_watched != 0) {
    sigaddset(&signals.blocked, also_watched);
    sigaddset(&signals.watched, also_watched);
  }
  watched_ = signals.watched;
  sigprocmask(SIG_BLOCK, &signals.blocked, &former_mask_);
  // Whoever started us may have left it blocked; then no tick would come.
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  struct sigaction action {};
  action.sa_handler = tick;  // without SA_RESTART: it is there to interrupt wait4
  sigaction(SIGALRM, &action, &former_alarm_);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  // Whoever started us may have left SIGCHLD ignored; then the kernel would not send it.
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &former_child_);
  watchdog_.emplace(watched_);
}

Waiter::~Waiter() {
  watchdog_.reset();
  set_ticking(false);
  sigaction(SIGALRM, &former_alarm_, nullptr);
  sigaction(SIGCHLD, &former_child_, nullptr);
  sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
}

Outcome Waiter::next(std::optional<std::chrono::nanoseconds> due, std::optional<std::chrono::nanoseconds> alarm) {
  if (due && mode_ == Mode::busy) {
    mode_ = Mode::about_to_sleep;
    set_ticking(false);
  }
  if (alarm && (!due || *alarm < *due)) {
    due = alarm;
    tick_for(*alarm);
  }
  for (;;) {
    if (due && *due <= monotonic_now()) {
      return Due{};
    }
    auto got = wait();
    if (!got) {
      return NothingLeft{};
    }
    if (got.value()) {
      expect_reports();
      tuner_.came(monotonic_now);
      if (reports_until_look_-- == 0) {
        // Where reports are always ready, nothing interrupts wait4. We keep this one for the next round.
        reports_until_look_ = reports_between_looks;
        if (const int signal = pending_signal(); signal != 0) {
          reports_.put_back(std::move(*got.value()));
          return Interrupted{signal};
        }
      }
      return std::move(*got.value());
    }
    if (const int signal = pending_signal(); signal != 0) {
      return Interrupted{signal};
    }
    switch (mode_) {
      case Mode::busy:
        if (!anything_since_tick_) {
          mode_ = Mode::about_to_sleep;
          set_ticking(false);
        }
        anything_since_tick_ = false;
        break;
      case Mode::about_to_sleep:
        mode_ = Mode::asleep;
        return Quiet{};
      case Mode::asleep:
        if (const int signal = sleep(due); signal != 0) {
          return Interrupted{signal};
        }
        break;
    }
  }
}

Result<std::optional<Report>> Waiter::wait() {
  if (mode_ == Mode::busy && !tuner_.polls()) {
    return reports_.next(Waiting::block);
  }
  auto got = reports_.next(Waiting::poll);
  if (mode_ != Mode::busy) {
    return got;
  }
  for (const auto enough = monotonic_now() + PollTuner::patience; got && !got.value();) {
    if (monotonic_now() >= enough) {
      return reports_.next(Waiting::block);
    }
    got = reports_.next(Waiting::poll);
  }
  return got;
}

void Waiter::expect_reports() {
  anything_since_tick_ = true;
  if (mode_ != Mode::busy) {
    mode_ = Mode::busy;
    set_ticking(true);
    tuner_.resumed(monotonic_now());
  }
}

void Waiter::ends(int signal) {
  if (watchdog_) {
    watchdog_->owner_ends(signal);
  }
}

void Waiter::ignore_signals() {
  watchdog_.reset();
  sigemptyset(&watched_);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

int Waiter::sleep(std::optional<std::chrono::nanoseconds> due) const {
  sigset_t awaited = watched_;
  sigaddset(&awaited, SIGCHLD);
  siginfo_t info;
  int signal = 0;
  if (due) {
    const auto left = std::max(*due - monotonic_now(), std::chrono::nanoseconds(0));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), (left - seconds).count()};
    signal = sigtimedwait(&awaited, &info, &limit);
  } else {
    signal = sigwaitinfo(&awaited, &info);
  }
  return signal > 0 && signal != SIGCHLD ? signal : 0;
}

int Waiter::pending_signal() const {
  siginfo_t info;
  const timespec at_once{};
  const int signal = sigtimedwait(&watched_, &info, &at_once);
  return signal > 0 ? signal : 0;
}

void Waiter::set_ticking(bool on) {
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = on ? tick_.count() : 0;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void Waiter::tick_for(std::chrono::nanoseconds alarm) {
  if (mode_ != Mode::busy) {
    return;
  }
  const auto left = std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(alarm - monotonic_now()),
                               shortest_tick, longest_tick);
  if (left <= tick_ / 2 || left >= tick_ * 2) {
    tick_ = left;
    set_ticking(true);
  }
}

}  // namespace tracer::ptrace
