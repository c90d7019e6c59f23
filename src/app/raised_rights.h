// Rights that the tracer's file gives to the user who runs it: file capabilities, set-user-ID, set-group-ID.
#pragma once

namespace tracer::app {

/// Whether the process has rights that its user lacks (AT_SECURE of getauxval(3)).
bool has_raised_rights();

/// Drops raised rights but those that BPF programs need (CAP_BPF, CAP_PERFMON): with ptrace, what the user may trace is
/// then up to the kernel. Does nothing if there are none.
void drop_raised_rights();

}  // namespace tracer::app
