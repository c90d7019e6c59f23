// A breakpoint raises SIGTRAP, which the kernel forces on a thread: if the thread blocks it, or the program ignores it,
// the kernel unblocks it and resets its disposition. What the program has set is put back here.
//
// Sources: force_sig_info_to_task() in kernel/signal.c. It resets the handler alone: flags and mask stay.
#pragma once

#include "arch/arch.h"
#include "functions/breakpoints.h"
#include "ptrace/tracee.h"

namespace tracer::functions {

/// Whether the set of signals that /proc/TID/status shows as `field` has this one.
bool has_signal(pid_t tid, const char* field, int signal);

/// Notes what the program of the thread, which is at no breakpoint, has made of SIGTRAP until now. `ignored`: the
/// program before it ignored the signal.
void learn_trap_signal(ptrace::Tracee& tracee, bool ignored);

/// The thread is about to call sigaction, signal or pthread_sigmask, where `point` is: notes what becomes of SIGTRAP.
void expect_signal_change(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers);

/// Whether the thread had a SIGTRAP of its own pending when it ran into a breakpoint: the kernel queues no second one,
/// and so it has stopped for the first.
bool is_merged_trap(const ptrace::Tracee& tracee);

/// Whether the program ignores SIGTRAP: a breakpoint has made the kernel forget that.
bool ignores_trap(const ptrace::Tracee& tracee);

/// A breakpoint has stopped the thread: puts back what the kernel has changed.
void restore_trap_signal(ptrace::Tracee& tracee);

}  // namespace tracer::functions
