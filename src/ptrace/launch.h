// Starting the program to be traced.
#pragma once

#include <linux/filter.h>

#include <functional>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/start_program.h"
#include "ptrace/engine.h"
#include "ptrace/foreground_proxy.h"
#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// A process that is seized and stopped. It will exec once it is resumed and open_gate() has opened `gate`, and it ends
/// if `gate` closes before that.
struct Launched {
  Stopped thread;
  UniqueFd gate;
  std::optional<ForegroundProxy> proxy;  ///< where it was asked for, and the tracer does not daemonize
};

/// `filter`, if not empty, is installed just before the execve. The child inherits the signal mask, the signal
/// dispositions and the CPU affinity of the caller. `proxy`, if not empty: the process that the user started becomes a
/// foreground proxy, which is as interruptible as this says, and calls `on_child_end` for each child of its own that
/// ends. Then, and with daemonizing, this returns in another process.
Result<Launched> launch(const process::LaunchOptions& options, bool strict, unsigned ptrace_options,
                        std::span<const sock_filter> filter, std::optional<process::Interruptible> proxy,
                        const std::function<void(pid_t, int)>& on_child_end);

}  // namespace tracer::ptrace
