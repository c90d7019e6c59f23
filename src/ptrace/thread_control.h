// How stopped threads go on: at once, later, or without the tracer.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "process/engine_options.h"
#include "ptrace/call_recorder.h"
#include "ptrace/function_hooks.h"
#include "ptrace/held_threads.h"
#include "ptrace/tracee.h"

namespace tracer::ptrace {

class ThreadControl {
 public:
  /// `functions`: null if no functions are traced. `recorder`: null if all calls that are wanted stop.
  ThreadControl(const process::EngineOptions& options, TraceeTable& tracees, FunctionHooks* functions,
                CallRecorder* recorder, EventSink& sink)
      : options_(options), tracees_(tracees), functions_(functions), recorder_(recorder), sink_(sink) {}

  /// Where the engine is to detach from the thread, this does that. The tracee may be gone from the table afterwards,
  /// as after each of these.
  void resume(Tracee& tracee, int signal = 0);
  /// As resume(), but the thread stays in its group-stop.
  void listen(Tracee& tracee);
  /// As resume(), but after `delay`.
  void resume_after(Tracee& tracee, std::optional<std::chrono::nanoseconds> delay, int signal);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_release() const { return held_.next_release(); }
  /// Resumes the threads whose delay is over.
  void release_due();

  /// Starts to detach from all threads of the process.
  void detach_process(pid_t tgid);
  /// Starts to detach from all tracees. False if it has done so before.
  bool detach_all();
  [[nodiscard]] bool detaches_from_all() const { return detaching_all_; }
  /// Detaches from a stopped thread, which gets `signal`, as soon as that does no harm.
  void finish_detach(Tracee& tracee, int signal);
  /// Starts to detach from the threads that are suppressed, but traced because of breakpoints. Whether there are any.
  bool detach_suppressed();
  /// Gives up the threads that do not stop. The kernel detaches from them when the tracer ends.
  void abandon_stragglers();
  /// Whether those that others wait for have had their time, and none has stopped for a while.
  [[nodiscard]] bool is_tired_of_waiting() const;
  /// Whether the user may end the waiting. (One request to end may come as several signals: timeout(1) sends one to its
  /// child and another one to its group.)
  [[nodiscard]] bool may_abandon() const;
  /// Detaches from the threads that have waited for others, if these have come.
  void detach_waiting();

 private:
  void try_detach(Tracee& tracee, int signal);
  /// Whether what is ours in the thread's process allows to detach from it now; it has gone on otherwise, or waits.
  bool may_detach(Tracee& tracee, int signal);
  const Running& run_on(Tracee& tracee, int signal);
  void detach(Tracee& tracee);
  void release(Tracee& tracee);

  const process::EngineOptions& options_;
  TraceeTable& tracees_;
  FunctionHooks* functions_;
  CallRecorder* recorder_;
  EventSink& sink_;
  HeldThreads held_;
  std::vector<pid_t> waiting_;  ///< to be detached from after others; some may have ended
  bool detaching_all_ = false;
  std::chrono::nanoseconds detaching_since_{};  ///< by CLOCK_MONOTONIC, and so is this:
  std::chrono::nanoseconds abandon_at_{};
};

}  // namespace tracer::ptrace
