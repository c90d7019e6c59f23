// When something happened to a thread that function tracing reports, and what could be read of the thread then.
#pragma once

#include "arch/arch.h"
#include "functions/thread_state.h"
#include "trace/library_call.h"
#include "trace/memory.h"

namespace tracer::functions {

/// Now, as the thread is stopped; or when the kernel has recorded it.
struct Moment {
  const arch::Registers& registers;
  const trace::Memory& memory;
  const trace::CallContext& context;
  const trace::EventTime* past = nullptr;  ///< null: now
};

inline void report(ptrace::EventSink& sink, ptrace::Tracee& tracee, const Moment& moment,
                   ptrace::EventSink::What what) {
  if (moment.past != nullptr) {
    sink.emit_past(tracee, what, *moment.past, moment.memory);
  } else {
    report(sink, tracee, what);
  }
}

}  // namespace tracer::functions
