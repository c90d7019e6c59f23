// What every engine is told: whom to trace and how to behave.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "library/symbol_filter.h"
#include "process/launch_options.h"
#include "trace/engine.h"
#include "trace/function_counter.h"

namespace tracer::process {

/// -I: what the signals do that would end the tracer. SIGKILL always ends it.
enum class Interruptible : std::uint8_t {
  anywhere,    ///< they end it at once, even where it is stuck in writing; the kernel lets the tracees go
  waiting,     ///< they make it detach and stop; the default
  never,       ///< -o FILE PROG
  never_tstp,  ///< and SIGTSTP is blocked as well; with -D
};

/// Processes to watch besides, whenever they start; only where an engine need not stop them.
struct Scope {
  bool system_wide = false;
  std::vector<std::string> cgroups;  ///< folders of cgroup v2, or paths below its mount point
  std::vector<std::string> comms;    ///< as in /proc/PID/comm

  [[nodiscard]] bool any() const { return system_wide || !cgroups.empty() || !comms.empty(); }
};

struct EngineOptions {
  std::optional<LaunchOptions> launch;
  std::vector<pid_t> attach;  ///< processes (or threads, as strace allows) of -p
  bool follow_forks = false;
  bool kill_on_exit = false;  ///< tracees die with the tracer, however it dies
  bool strict = false;        ///< messages in strace's words alone, exit status 1 where exec fails
  bool as_ltrace = false;     ///< that a process cannot be attached to is told in ltrace's words
  bool cpu_time = false;      ///< fill SyscallExit::cpu_time, CallTotals::cpu
  bool latencies = false;     ///< fill CallTotals::latencies
  bool sampled = false;       ///< CallTotals::cpu may be estimated from some of the calls; wall is not wanted
  bool times = true;          ///< fill CallTotals::cpu and wall, if cpu_time; else only calls and errors matter
  Scope scope;
  Interruptible interruptible = Interruptible::waiting;
  /// The signal that ends tracing goes to the launched program, too, as long as that is watched.
  bool signal_program = false;
  /// Calls to report; everything if empty. The engine may report more than these, never less.
  std::optional<trace::WantedCalls> wanted;
  /// Why no seccomp filter may keep unwanted calls from stopping; empty if one may. Must say so where a tracee may be
  /// let go before its end (-b, --syscall-limit, -I1): a filter without a tracer makes the calls it traps fail with
  /// ENOSYS.
  std::string no_filter_because;
  /// Calls of functions to report; nothing if both filters are empty. Where there are some, threads of a traced process
  /// are followed in any case: they share its breakpoints.
  library::LibrarySelection functions;
  /// Whether each call's begin and end are to be reported, or, as LibraryCalls, only how many there were.
  bool functions_one_by_one = true;
  /// Counts them, if so; null: the engine does it itself.
  std::shared_ptr<trace::FunctionCounter> function_counter;
  bool only_functions = false;  ///< no system call is wanted at all
  /// -d: what the engine learns about the kernel, what it chooses, and each report, one sentence each; may be empty.
  std::function<void(const std::string&)> debug;
};

}  // namespace tracer::process
