// Starting the program to be traced, so that a tracer has all the time it needs before the execve.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <optional>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/launch_options.h"

namespace tracer::process {

/// Two ends of a line between the tracer and the process that becomes the program. Both end with an execve.
struct Gate {
  UniqueFd inner;
  UniqueFd outer;
};

/// A process that will exec after open_gate(). It ends if the outer end closes before that.
struct StartedProgram {
  pid_t pid = 0;
  Gate gate;
};

/// `filter`, if not empty, is installed just before the execve. The child inherits the signal mask, the signal
/// dispositions and the CPU affinity of the caller. With daemonizing this returns in another process.
Result<StartedProgram> start_program(const LaunchOptions& options, bool strict, std::span<const sock_filter> filter);

/// Waits until the program waits for open_gate(); nobody else holds the inner end after that.
Status await_at_gate(StartedProgram& program);

/// Lets the program exec. It must be running.
void open_gate(UniqueFd& gate);

/// The same, and waits for what comes of it: errno of the execve; 0 if that succeeded, or the program was killed
/// before.
int open_gate_and_await_exec(UniqueFd& gate);

/// What a program gets of the signal that ended the tracer: `signal`, and SIGCONT before, so that one that is stopped
/// receives it. `pid` must not have been collected yet.
void send_ending_signal(pid_t pid, int signal);

/// Collects the program's exit status, as from waitpid(2), if it has ended. For those who do not wait by ptrace.
std::optional<int> collect_program(const StartedProgram& program);

}  // namespace tracer::process
