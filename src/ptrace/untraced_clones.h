// CLONE_UNTRACED keeps a child from its parent's tracer, but not from its parent's seccomp filter: calls that are
// wanted would fail in it with ENOSYS, as nobody is there to be asked. Nor does it keep breakpoints from it, and it
// would die of them. So where there are any, or our filter, the kernel does not get to see the flag, if the call stops.
// The child is traced, but suppressed, and parent and child find the flag again where it was.
#pragma once

#include "ptrace/tracee.h"

namespace tracer::ptrace {

/// At the entry of a call.
void hide_untraced(Tracee& tracee, const CallState& entry);
/// At the first stop after that, of the thread and of its child.
void restore_untraced(Tracee& tracee);
void inherit_untraced(const HiddenFlag& parents, Tracee& child);

}  // namespace tracer::ptrace
