// What every engine has to know: which processes to trace and how to behave.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proc/cgroups/target.h"
#include "process/interruptible.h"
#include "process/launch_options.h"
#include "trace/engine.h"

namespace tracer::process {

/// Processes to watch besides, whenever they start; only where an engine need not stop them.
struct Scope {
  bool system_wide = false;
  std::vector<proc::cgroups::Target> groups;
  std::vector<std::string> comms;  ///< as in /proc/PID/comm

  [[nodiscard]] bool any() const { return system_wide || !groups.empty() || !comms.empty(); }
};

struct EngineOptions {
  std::optional<LaunchOptions> launch;
  std::vector<pid_t> attach;  ///< processes (or threads, as strace allows) of -p
  bool follow_forks = false;
  bool kill_on_exit = false;      ///< tracees die with the tracer, however it dies
  bool strict = false;            ///< messages in strace's words alone, exit status 1 where exec fails
  bool as_ltrace = false;         ///< of -p all threads, without -f, too; messages on failures in ltrace's words
  bool cpu_time = false;          ///< fill SyscallExit::cpu_time, CallTotals::cpu
  bool latencies = false;         ///< fill CallTotals::latencies
  bool sampled = false;           ///< CallTotals::cpu may be estimated from some of the calls; wall is not wanted
  bool times = true;              ///< fill CallTotals::cpu and wall, if cpu_time; else only calls and errors matter
  pid_t output_reader = 0;        ///< a child of this process that reads the output; 0: there is none
  bool unknown_exits = false;     ///< say when a child ends that is no tracee
  bool unknown_detached = false;  ///< say when a child that became a tracee unasked (CLONE_PTRACE) is detached from
  Scope scope;
  Interruptible interruptible = Interruptible::waiting;
  /// The signal that ends tracing goes to the launched program, too, as long as that is watched.
  bool signal_program = false;
  /// Calls to report; everything if empty. The engine may report more than these, never less.
  std::optional<trace::WantedCalls> wanted;
  /// Those of them that need no stop with other commands. An engine may report them all the same.
  trace::WantedCommands wanted_commands;
  /// Why no seccomp filter may keep unwanted calls from stopping; empty if one may. There must be a reason where the
  /// engine may detach from a tracee before its end (-b, --syscall-limit, -I1): a filter without a tracer makes the
  /// calls that it traps fail with ENOSYS.
  std::string no_filter_because;
  bool only_functions = false;  ///< no system call is wanted at all, if functions are traced
  /// -d: what the engine learns about the kernel, what it chooses, and each report, one sentence each; may be empty.
  std::function<void(const std::string&)> debug;
  /// Called before the engine detaches from all tracees: whatever it has to say from then on keeps them waiting.
  std::function<void()> on_leaving;
};

}  // namespace tracer::process
