// Signals of a process that only waits for a child, which does the work in its place.
#pragma once

#include <signal.h>

#include "base/child.h"

namespace tracer::process {

/// Gives SIGCHLD its default action: where it is ignored, it is not sent, and the kernel keeps no exit status.
class DefaultChildAction {
 public:
  DefaultChildAction();
  DefaultChildAction(const DefaultChildAction&) = delete;
  DefaultChildAction& operator=(const DefaultChildAction&) = delete;
  ~DefaultChildAction();

 private:
  struct sigaction former_ {};
};

/// Waits for a signal of `awaited`, all of which are blocked, and forwards it to `child`. SIGCHLD and SIGIO only end
/// the wait, and so do the terminal's signals, which it sends to both.
void forward_signal(const sigset_t& awaited, pid_t child);

/// Holds back the signals that would end this process while a child works for it.
class ForwardedSignals {
 public:
  ForwardedSignals();
  ForwardedSignals(const ForwardedSignals&) = delete;
  ForwardedSignals& operator=(const ForwardedSignals&) = delete;
  ~ForwardedSignals();

  /// Forwards them to the child until it has ended. Returns its status, as from waitpid(2).
  [[nodiscard]] int wait_for(Child child) const;

 private:
  DefaultChildAction collectable_;
  sigset_t held_{};
  sigset_t former_{};
};

}  // namespace tracer::process
