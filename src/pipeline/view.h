// The interface of views, which write the calls and events that pass the filters: as text, as JSON records, …
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "pipeline/stack.h"
#include "pipeline/thread.h"
#include "trace/memory.h"
#include "trace/stack.h"

namespace tracer::pipeline {

/// When an event happened, and the memory as it was then, with its snapshot if there is one. Valid while the event is
/// handled.
struct Moment {
  trace::EventTime time;
  const trace::Memory& memory;

  [[nodiscard]] names::Task task(const Thread& thread) const { return {thread.tid, memory.snapshot()}; }
};

/// How a shown call ended.
struct CallEnd {
  trace::EventTime time;
  decode::Outcome outcome;
  trace::Tampered tampered;
  std::chrono::nanoseconds duration{};       ///< wall clock
  std::span<const trace::StackFrame> stack;  ///< with -k; that of the entry if the call does not return to its caller
  StackTaken stack_taken = StackTaken::at_entry;
};

/// A view writes only the events whose functions it overrides.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  virtual ~View() = default;

  virtual void thread_appears(Thread& /*thread*/, const Moment& /*moment*/) {}
  /// There are no more events of the thread.
  virtual void thread_goes(Thread& /*thread*/) {}

  // For each call that has passed the filters of the entry, call_begins() is followed by exactly one of the others.
  virtual void call_begins(Thread& thread, const trace::Memory& memory) = 0;
  virtual void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) = 0;
  /// The thread ended inside the call, or another thread's execve replaced its program, or OpenCall::end_is_lost.
  virtual void call_is_lost(Thread& /*thread*/, const Moment& /*moment*/) {}
  /// The filters of the exit exclude the call. Only called if the view holds calls back until they end.
  virtual void call_is_dropped(Thread& /*thread*/) {}

  /// Another call of the thread starts inside the one that is open and shown.
  virtual void call_is_nested(Thread& /*thread*/) {}
  /// longjmp or an exception left a function.
  virtual void call_is_unwound(Thread& /*thread*/, const Moment& /*moment*/) {}
  /// A function returned that this thread did not enter, or that has returned before: setjmp, or fork in the child.
  virtual void function_returns_again(Thread& /*thread*/, const Moment& /*moment*/, const trace::LibraryExit& /*exit*/,
                                      std::uint64_t /*value*/) {}

  virtual void probe(Thread& /*thread*/, const Moment& /*moment*/, const trace::ProbeHit& /*hit*/,
                     std::span<const trace::StackFrame> /*stack*/) {}
  virtual void abi_changes(Thread& /*thread*/, const Moment& /*moment*/) {}
  virtual void signal(Thread& /*thread*/, const Moment& /*moment*/, const trace::SignalStop& /*stop*/,
                      std::span<const trace::StackFrame> /*stack*/) {}
  virtual void group_stop(Thread& /*thread*/, const Moment& /*moment*/, int /*signal*/,
                          std::span<const trace::StackFrame> /*stack*/) {}
  virtual void fork(Thread& /*thread*/, const Moment& /*moment*/, const trace::Fork& /*fork*/) {}
  /// The tracer attached to the thread because of -p.
  virtual void attached(Thread& /*thread*/) {}
  /// A new program runs in `thread`.
  virtual void exec(Thread& /*thread*/, const Moment& /*moment*/) {}
  /// An execve in the thread `former` gave it the id of `leader`, which has ended.
  virtual void superseded(Thread& /*leader*/, Thread& /*former*/, const Moment& /*moment*/, bool /*quietly*/) {}
  virtual void exits(Thread& /*thread*/, const Moment& /*moment*/, int /*status*/) {}
  virtual void detached(Thread& /*thread*/, const Moment& /*moment*/) {}

  /// The engine has lost this many events here.
  virtual void lost(std::uint64_t events) { raw("+++ " + std::to_string(events) + " events lost here +++\n"); }

  /// Writes all buffered output.
  virtual void flush() {}
  /// Writes also what the view holds back: the engine is about to wait, or something else is to be written.
  virtual void show_all() { flush(); }
  /// The event is handled, and its thread will be resumed.
  virtual void event_done() {}
  /// Called last.
  virtual void finish() {}
  /// Writes text that is not part of a record, such as the table of -c.
  virtual void raw(std::string_view /*text*/) {}
};

}  // namespace tracer::pipeline
