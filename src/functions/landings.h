// Where jumps over open calls go: exceptions and long jumps. Often that is where a call that they end would have
// returned to.
#pragma once

#include "arch/breakpoint.h"
#include "functions/breakpoints.h"
#include "ptrace/tracee.h"

namespace tracer::functions {

/// The thread is at `point`, where it is about to jump so: sets a breakpoint where it will land.
void expect_landing(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers);

}  // namespace tracer::functions
