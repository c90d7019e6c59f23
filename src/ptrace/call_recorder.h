// What the ptrace engine asks of a recorder inside the tracees, to which threads make calls without a stop, and what
// that reports to the engine.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "ptrace/stopped_thread.h"
#include "trace/event.h"
#include "trace/memory.h"

namespace tracer::ptrace {

struct Tracee;

/// Calls that our seccomp filter lets pass although they are wanted.
struct Exemption {
  std::uint64_t page = 0;  ///< those made in this page; what has its address, or a near one, first always stops
  std::uint64_t page_size = 0;
  std::uint64_t number = 0;         ///< and those of this number
  std::uint64_t last_argument = 0;  ///< with this sixth argument, which nobody else knows
};

/// Takes what threads have recorded.
class RecordedCalls {
 public:
  RecordedCalls() = default;
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;
  virtual ~RecordedCalls() = default;

  /// A SyscallEnter or SyscallExit of an earlier moment. Its thread is filled in.
  virtual void on_recorded(pid_t tid, trace::Event& event, const trace::Memory& memory) = 0;
  /// A thread's records are not what a recorder writes: what they had is lost.
  virtual void on_damaged(pid_t tid) = 0;
  /// The stopped thread has left a recorded call, of which it could not record that itself.
  virtual void on_left(Tracee& tracee, const trace::SyscallExit& exit) = 0;
};

/// All tracees are stopped threads, but for `child` of inherit() and the thread of leave(), which may have ended.
class CallRecorder {
 public:
  CallRecorder() = default;
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;
  virtual ~CallRecorder() = default;

  [[nodiscard]] virtual Exemption exemption() const = 0;
  /// Reports all that was recorded until now.
  virtual void collect() = 0;
  /// When to collect at the latest, by CLOCK_MONOTONIC.
  [[nodiscard]] virtual std::chrono::nanoseconds due() const = 0;
  /// A thread has stopped: collect(), and if a signal has stopped it in code of ours, puts it where it would be without
  /// us. True if the signal came from that code and is nothing to the program.
  virtual bool on_stop(Tracee& tracee, const Stop& stop) = 0;
  /// The thread is at the entry of a call.
  virtual void before_call(Tracee& tracee, const CallState& state) = 0;
  /// The thread is at the exit of a call, which has been reported: the next ones at this place may be recorded inside.
  virtual void after_call(Tracee& tracee, const CallState& state) = 0;
  /// `parent` has created `child`, which has not run yet.
  virtual void inherit(const Tracee& parent, const Tracee& child, bool shares_memory) = 0;
  /// The thread ends, or has ended.
  virtual void leave(Tracee& tracee) = 0;
  /// The thread has executed another program. Its id was `former`.
  virtual void on_exec(Tracee& tracee, pid_t former) = 0;
  /// The process is about to get a seccomp filter of its own: every call has to stop from now on.
  virtual void distrust(Tracee& tracee) = 0;
};

/// Makes a recorder that reports to this sink.
using MakeCallRecorder = std::function<std::unique_ptr<CallRecorder>(RecordedCalls&)>;

}  // namespace tracer::ptrace
