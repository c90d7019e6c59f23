#include "process/watchdog.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "base/read_file.h"
#include "base/write_all.h"
#include "proc/proc_text.h"

namespace tracer::process {

namespace {

constexpr long step_nanoseconds = 200'000'000;
constexpr int most_steps = 4;
constexpr std::int64_t most_computed = 5'000'000'000;

/// Returns the number after `key` in a file like /proc/PID/status.
unsigned long number_after(std::string_view text, std::string_view key, int base) {
  const auto at = text.find(key);
  return at == std::string_view::npos ? 0 : std::strtoul(text.data() + at + key.size(), nullptr, base);
}

unsigned long mask_of(const sigset_t& signals) {
  unsigned long mask = 0;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    mask |= ::sigismember(&signals, signal) == 1 ? 1UL << (signal - 1) : 0;
  }
  return mask;
}

/// Whether this call, as /proc/PID/syscall shows it, waits for tracees, for other threads or for a time; also if that
/// cannot be known.
bool waits_for_others(std::string_view call) {
  constexpr std::array waiting = {
      SYS_wait4, SYS_waitid,      SYS_rt_sigtimedwait, SYS_futex,
      SYS_ppoll, SYS_epoll_pwait, SYS_clock_nanosleep, SYS_restart_syscall,
#ifdef SYS_poll
      SYS_poll,  SYS_epoll_wait,
#endif
  };
  long number = -1;
  const auto parsed = std::from_chars(call.data(), call.data() + call.size(), number);
  return parsed.ec != std::errc() || std::find(waiting.begin(), waiting.end(), number) != waiting.end();
}

}  // namespace

Watchdog::Watchdog(const sigset_t& watched)
    : watched_(watched), owner_(::pthread_self()), owner_tid_(static_cast<pid_t>(::syscall(SYS_gettid))) {
  if (::sigisemptyset(&watched) == 1) {
    return;
  }
  // The thread inherits the mask: no signal is handled there.
  sigset_t all;
  sigset_t former;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  runs_ = ::pthread_create(&thread_, nullptr, start, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

Watchdog::~Watchdog() {
  if (runs_) {
    stops_ = true;
    ::pthread_kill(thread_, SIGRTMAX);
    ::pthread_join(thread_, nullptr);
  }
}

void Watchdog::owner_ends(int signal) {
  if (runs_) {
    ends_by_ = signal;
    ::pthread_kill(thread_, SIGRTMAX);
  }
}

void* Watchdog::start(void* self) {
  static_cast<Watchdog*>(self)->run();
  return nullptr;
}

bool Watchdog::is_stuck() {
  // One call after the other may sleep, as the removal of many probes does: that is work.
  std::string call = read_file(proc::proc_path(owner_tid_, "syscall"));
  std::swap(call, call_);
  return call == call_ && !waits_for_others(call);
}

Watchdog::Owner Watchdog::ask_owner() {
  const std::string status = read_file(proc::proc_path(owner_tid_, "status"));
  clockid_t clock{};
  timespec used{};
  if (::pthread_getcpuclockid(owner_, &clock) == 0) {
    ::clock_gettime(clock, &used);
  }
  const std::int64_t now = std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
  // A timer's tick wakes it now and then, and takes next to no time.
  const bool worked = now - used_ > step_nanoseconds / 50;
  computed_ += now - used_;
  used_ = now;
  const bool pending = (number_after(status, "\nSigPnd:", 16) & mask_of(watched_)) != 0;
  const bool runs = status.find("\nState:\tR") != std::string::npos;
  if (!pending && ends_by_ == 0) {
    return Owner::has_taken_them;
  }
  if (pending && computed_ > most_computed) {
    return Owner::computes_too_long;
  }
  return runs || worked || (!pending && !is_stuck()) ? Owner::is_busy : Owner::sleeps;
}

void Watchdog::run() {
  sigset_t awaited = watched_;
  ::sigaddset(&awaited, SIGRTMAX);
  int handed_on = 0;
  int steps = 0;
  while (!stops_) {
    siginfo_t info;
    const timespec step{0, step_nanoseconds};
    const int signal = handed_on == 0 ? ::sigwaitinfo(&awaited, &info) : ::sigtimedwait(&awaited, &info, &step);
    if (signal > 0 && ::sigismember(&watched_, signal) == 1) {
      ::pthread_kill(owner_, signal);
      if (handed_on == 0) {
        steps = 0;
        ask_owner();
        computed_ = 0;
      }
      handed_on = signal;
    } else if (handed_on != 0 && signal < 0 && errno == EAGAIN) {
      const Owner owner = ask_owner();
      steps = owner == Owner::sleeps ? steps + 1 : 0;
      if (steps == most_steps || owner == Owner::computes_too_long) {
        end_by(handed_on, owner == Owner::sleeps ? "waits in the kernel" : "is busy");
      }
      handed_on = owner == Owner::has_taken_them ? 0 : handed_on;
    } else if (handed_on == 0) {
      handed_on = ends_by_;
    }
  }
}

void Watchdog::end_by(int signal, std::string_view why) {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1) {
    static_cast<void>(write_all(STDERR_FILENO, std::string(program_invocation_short_name) + ": " + std::string(why) +
                                                   "; it ends and lets all processes go\n"));
  }
  ::signal(signal, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  constexpr int as_shells_do = 128;
  ::_exit(as_shells_do + signal);
}

}  // namespace tracer::process
