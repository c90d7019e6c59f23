// Changing calls as the handler asks.
#pragma once

#include "ptrace/tracee.h"
#include "trace/engine.h"

namespace tracer::ptrace {

/// At the entry of a call, which `entry` is about: does what the handler wants done then, and notes the rest.
void tamper_at_entry(trace::EventHandler& handler, Tracee& tracee, trace::Event& entry);
/// Changes `state` to what the thread will see.
void tamper_at_exit(Tracee& tracee, CallState& state);
/// Puts the result in that the thread's call owes, if it does.
void pay_result(Tracee& tracee);

}  // namespace tracer::ptrace
