// Starting the program to be traced.
#pragma once

#include <linux/filter.h>

#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "ptrace/engine.h"
#include "ptrace/stopped_thread.h"

namespace tracer {

/// A process that is seized, stopped, and will exec once it is resumed and told to go. If it is never told, it ends
/// when `gate` closes.
struct Launched {
  Stopped thread;
  UniqueFd gate;
};

/// Lets the program exec. It must be running.
void open_gate(UniqueFd& gate);

/// `filter`, if not empty, is installed just before the execve. The child inherits the signal mask, the signal
/// dispositions and the CPU affinity of the caller.
Result<Launched> launch(const LaunchOptions& options, bool strict, unsigned ptrace_options,
                        std::span<const sock_filter> filter);

}  // namespace tracer
