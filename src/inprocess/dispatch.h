// What it takes to have the threads of a process that runs already raise SIGSYS for calls that are not recorded, which
// the tracer can end again at any time (syscall user dispatch).
#pragma once

#include <sys/types.h>

#include "ptrace/stopped_thread.h"
#include "trace/memory.h"

namespace tracer::inprocess {

/// Whether a call with this entry may make the program depend on what becomes of SIGSYS: the kernel would put the
/// default action in the place of SIG_IGN, and the program's own dispatch in the place of ours.
bool changes_dispatch(const ptrace::CallState& entry, const trace::Memory& memory);

/// Whether the process ignores SIGSYS now.
bool ignores_dispatch(pid_t process);

/// Whether a process that is not traced by us has the same memory.
bool has_strangers_memory(pid_t process);

/// Whether a thread that has been interrupted, and does not stop, sleeps in a call that it has made by an instruction
/// which is not in the recorder: it will stop before it runs any code.
bool sleeps_outside(pid_t process, pid_t tid);

/// Whether the thread is in a stop that only its tracer can end, or gets there very soon.
bool comes_to_stop(pid_t tid);

}  // namespace tracer::inprocess
