// What comes out of the pipeline, seen by those who write it down: as text, or as JSON records.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "pipeline/thread.h"
#include "trace/memory.h"
#include "trace/stack.h"

namespace tracer::pipeline {

/// How a call ended that was shown.
struct CallEnd {
  trace::EventTime time;
  decode::Outcome outcome;
  trace::Tampered tampered;
  std::chrono::nanoseconds duration{};       ///< wall clock
  std::span<const trace::StackFrame> stack;  ///< with -k; of the entry where the call does not return to its caller
};

/// What it does not override, it does not write down.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  virtual ~View() = default;

  virtual void thread_appears(Thread& /*thread*/) {}
  /// It will not be heard of again.
  virtual void thread_goes(Thread& /*thread*/) {}

  // Calls that have passed the filters of the entry: begins, then exactly one of the others.
  virtual void call_begins(Thread& thread, const trace::Memory& memory) = 0;
  virtual void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) = 0;
  /// The thread ended, or lost its program, inside the call.
  virtual void call_is_lost(Thread& /*thread*/, const trace::EventTime& /*time*/) {}
  /// The call will not be shown after all. Only in a view that holds calls back until they end.
  virtual void call_is_dropped(Thread& /*thread*/) {}

  /// Another call of the thread begins inside the one that is open and shown.
  virtual void call_is_nested(Thread& /*thread*/) {}
  /// A function was left by longjmp or an exception.
  virtual void call_is_unwound(Thread& /*thread*/, const trace::EventTime& /*time*/) {}
  /// A function returned that this thread did not enter, or that has returned before: setjmp, or fork in the child.
  virtual void function_returns_again(Thread& /*thread*/, const trace::EventTime& /*time*/,
                                      const trace::LibraryExit& /*exit*/, std::uint64_t /*value*/) {}

  virtual void probe(Thread& /*thread*/, const trace::EventTime& /*time*/, const trace::ProbeHit& /*hit*/,
                     const trace::Memory& /*memory*/, std::span<const trace::StackFrame> /*stack*/) {}
  virtual void abi_changes(Thread& /*thread*/, const trace::EventTime& /*time*/) {}
  virtual void signal(Thread& /*thread*/, const trace::EventTime& /*time*/, const trace::SignalStop& /*stop*/,
                      const trace::Memory& /*memory*/, std::span<const trace::StackFrame> /*stack*/) {}
  virtual void group_stop(Thread& /*thread*/, const trace::EventTime& /*time*/, int /*signal*/,
                          std::span<const trace::StackFrame> /*stack*/) {}
  virtual void fork(Thread& /*thread*/, const trace::EventTime& /*time*/, const trace::Fork& /*fork*/) {}
  /// It was attached to because the user asked for it.
  virtual void attached(Thread& /*thread*/) {}
  /// A new program runs in `thread`.
  virtual void exec(Thread& /*thread*/, const trace::EventTime& /*time*/) {}
  /// execve in `former` made it take over the id of `leader`, which is about to go.
  virtual void superseded(Thread& /*leader*/, Thread& /*former*/, const trace::EventTime& /*time*/, bool /*quietly*/) {}
  virtual void exits(Thread& /*thread*/, const trace::EventTime& /*time*/, int /*status*/) {}
  virtual void detached(Thread& /*thread*/, const trace::EventTime& /*time*/) {}

  /// The engine could not keep up: so many events are missing here.
  virtual void lost(std::uint64_t events) { raw("+++ " + std::to_string(events) + " events lost here +++\n"); }

  /// Hands all that is there to the system.
  virtual void flush() {}
  /// The event is dealt with, and its thread about to go on.
  virtual void event_done() {}
  /// Nothing more will come.
  virtual void finish() {}
  /// Text that is no part of a record, such as the table of -c.
  virtual void raw(std::string_view /*text*/) {}
};

}  // namespace tracer::pipeline
