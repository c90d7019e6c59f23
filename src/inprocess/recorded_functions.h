// How a thread gets out of the recorder's code for functions.
#pragma once

#include <functional>

#include "arch/arch.h"
#include "inprocess/layout.h"
#include "ptrace/tracee.h"
#include "trace/function_recorder.h"

namespace tracer::inprocess {

using ReportReturn = std::function<void(trace::FunctionRecorder::Hit&)>;

/// Puts a stopped thread that records a call of a function, or the return from one, where it would be without us:
/// before the jump to the function if it has not recorded that yet, else behind it. A return that is not recorded yet
/// is reported here, without its time. `area`: the thread's; null if it has none. False: the thread is elsewhere.
bool leave_function(ptrace::Tracee& tracee, arch::Registers registers, const Symbols& symbols, const ThreadArea* area,
                    const ReportReturn& report);

}  // namespace tracer::inprocess
