// Starting the program to be traced.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/start_program.h"
#include "ptrace/engine.h"
#include "ptrace/foreground_proxy.h"
#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// A process that is seized, stopped, and will exec once it is resumed and told to go. If it is never told, it ends
/// when `gate` closes.
struct Launched {
  Stopped thread;
  UniqueFd gate;
  std::optional<Backstage> backstage;  ///< where it was asked for, and no daemonizing
};

/// `filter`, if not empty, is installed just before the execve. The child inherits the signal mask, the signal
/// dispositions and the CPU affinity of the caller. `in_front`, if not empty: the tracer leaves the place of the
/// process that the user started to a front, which is as interruptible as this says. Then, and with daemonizing, this
/// returns in another process.
Result<Launched> launch(const process::LaunchOptions& options, bool strict, unsigned ptrace_options,
                        std::span<const sock_filter> filter, std::optional<process::Interruptible> in_front);

}  // namespace tracer::ptrace
