// Events of tracepoints, for programs that perf runs there.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace tracer::bpf {

/// The event of a tracepoint, "CATEGORY/NAME", of all threads (perf_event_open(2)): a program that is attached to it
/// runs on every CPU. Its number is read from tracefs, wherever that is mounted, or else from a mount that nobody else
/// sees. The error is one sentence with cause and remedy.
Result<UniqueFd> open_tracepoint(const char* name);

}  // namespace tracer::bpf
