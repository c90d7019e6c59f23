// What the ptrace engine asks of function tracing, which sets breakpoints in its tracees, and what that reports to the
// engine.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/event.h"
#include "trace/function_recorder.h"
#include "trace/memory.h"

namespace tracer::ptrace {

class CallRecorder;
struct Tracee;

/// Takes what is to be reported of threads.
class EventSink {
 public:
  using What = decltype(trace::Event::what);

  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  virtual void emit(Tracee& tracee, What what) = 0;
  /// Reports what the stop of one thread shows about another, which may run; nothing unless that one is visible.
  virtual void emit_for(pid_t tid, const Tracee& stopped, What what) = 0;
  /// Reports what a thread, which may run, did at that time. `memory`: as it was then.
  virtual void emit_past(Tracee& tracee, What what, const trace::EventTime& time, const trace::Memory& memory) = 0;
  /// The thread with this id; null if it is none of ours.
  [[nodiscard]] virtual Tracee* find(pid_t tid) = 0;
  /// What records calls inside the tracees; null: nothing does.
  [[nodiscard]] virtual CallRecorder* recorder() = 0;
  /// Says a sentence to the user.
  virtual void complain(const std::string& sentence) = 0;
  /// Takes sentences for -d; empty if nobody asks for them.
  [[nodiscard]] virtual const std::function<void(const std::string&)>& debug() const = 0;
};

/// What function tracing keeps of a thread, which owns it.
class ThreadFunctions {
 public:
  ThreadFunctions() = default;
  ThreadFunctions(const ThreadFunctions&) = delete;
  ThreadFunctions& operator=(const ThreadFunctions&) = delete;
  virtual ~ThreadFunctions() = default;
};

/// When the engine can detach from a stopped thread.
struct Detachment {
  enum class When : std::uint8_t {
    now,
    after_trap,  ///< it has run into a breakpoint, or is held, and must run on to the stop that this brings
    at_rest,     ///< it has to make a call for us, which it can do where PTRACE_INTERRUPT stops it
    after_stop,  ///< it has stopped once more already, which is yet to be waited for
  };
  When when = When::now;
  bool was_at_trap = false;  ///< a breakpoint raised the SIGTRAP that stopped it, which must not be delivered
};

/// Tracing of functions. All tracees are stopped threads, but for `child` of inherit(), the thread of conclude(), and
/// that of end_calls() and leave_program(), which may have ended.
class FunctionHooks {
 public:
  FunctionHooks() = default;
  FunctionHooks(const FunctionHooks&) = delete;
  FunctionHooks& operator=(const FunctionHooks&) = delete;
  virtual ~FunctionHooks() = default;

  /// This process must have no breakpoints, as some of its threads are not ours.
  virtual void refuse(pid_t process) = 0;
  /// Reports what was recorded in the kernel until now.
  virtual void collect() = 0;
  /// A thread, which may run, has called a function or returned from one, and has recorded that itself.
  virtual void on_recorded(const trace::FunctionRecorder::Hit& hit) = 0;
  /// When to collect at the latest, by CLOCK_MONOTONIC; empty if nothing is recorded.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> due() const = 0;
  /// A thread is to be traced whose functions are not traced yet: sets the breakpoints that its process lacks.
  virtual void begin(Tracee& tracee) = 0;
  /// The last thread of its process has left its program and the breakpoints there: by execve, or as it ended.
  virtual void leave_program(Tracee& tracee) = 0;
  /// `parent` has created `child`, which has not run yet.
  virtual void inherit(Tracee& parent, Tracee& child, bool shares_memory) = 0;
  /// A SIGTRAP stopped the thread. False if no breakpoint raised it; else the thread can go on, without the signal.
  virtual bool on_trap(Tracee& tracee) = 0;
  /// The thread is about to show where it is, or to run a signal handler: if it is among displaced instructions, this
  /// puts it where it would be without us.
  virtual void put_back(Tracee& tracee) = 0;
  /// A SIGSTOP stopped the thread. True if it was sent because of what the kernel records: the thread can go on without
  /// it.
  virtual bool on_held(Tracee& tracee) = 0;
  /// A SIGSEGV stopped the thread. True if the reason is that displaced instructions are gone: it can go on without it.
  virtual bool on_fault(Tracee& tracee) = 0;
  /// The engine is about to detach from the thread, which lives on: leaves nothing of ours behind, or says when that is
  /// possible. `at_trap`: a SIGTRAP stopped it.
  virtual Detachment prepare_detach(Tracee& tracee, bool at_trap) = 0;
  /// The thread has ended, or another program has replaced its own: its open calls end.
  virtual void end_calls(Tracee& tracee) = 0;
  /// Nothing that the thread does from now on, which may run, is of interest: reports what was counted in its process.
  virtual void conclude(Tracee& tracee) = 0;
  /// Whether there was a program, and nothing in it or its libraries that is asked for.
  [[nodiscard]] virtual bool found_nothing() const = 0;
  /// Why parts of what is asked for were not found, as far as that can be said, and how much was lost; a line each.
  [[nodiscard]] virtual std::vector<std::string> why_missed() const = 0;
};

/// Makes what traces functions, and reports to this sink.
using MakeFunctionHooks = std::function<std::unique_ptr<FunctionHooks>(EventSink&)>;

}  // namespace tracer::ptrace
