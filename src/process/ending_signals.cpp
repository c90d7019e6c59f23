#include "process/ending_signals.h"

namespace tracer::process {

EndingSignals ending_signals(Interruptible interruptible) {
  EndingSignals signals;
  sigset_t blocked_by_caller;
  sigprocmask(SIG_BLOCK, nullptr, &blocked_by_caller);
  sigemptyset(&signals.blocked);
  sigemptyset(&signals.watched);
  // With -I1 they do at once what they do to any program.
  if (interruptible != Interruptible::anywhere) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
      sigaddset(&signals.blocked, signal);
      // As with strace, those that the caller ignores (a shell's background jobs) end tracing all the same, and those
      // that it has blocked do not.
      if (interruptible == Interruptible::waiting && sigismember(&blocked_by_caller, signal) == 0) {
        sigaddset(&signals.watched, signal);
      }
    }
  }
  sigaddset(&signals.blocked, SIGCHLD);
  if (interruptible == Interruptible::never_tstp) {
    sigaddset(&signals.blocked, SIGTSTP);
  }
  return signals;
}

}  // namespace tracer::process
