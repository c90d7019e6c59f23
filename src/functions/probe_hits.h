// Static probes that threads come to, and the values of their arguments.
#pragma once

#include <cstdint>

#include "arch/breakpoint.h"
#include "functions/breakpoints.h"
#include "functions/moment.h"
#include "ptrace/function_hooks.h"

namespace tracer::functions {

/// The thread has come to `point`, at `address`: reports the static probes there.
void report_probe_hits(ptrace::EventSink& sink, ptrace::Tracee& tracee, const Breakpoint& point, std::uint64_t address,
                       const Moment& moment, const arch::ReadRegisterSet& register_sets);

}  // namespace tracer::functions
