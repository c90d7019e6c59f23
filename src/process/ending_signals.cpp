#include "process/ending_signals.h"

namespace tracer::process {

EndingSignals ending_signals(Interruptible interruptible) {
  EndingSignals signals;
  sigemptyset(&signals.blocked);
  sigemptyset(&signals.watched);
  // With -I1 they do at once what they do to any program.
  if (interruptible != Interruptible::anywhere) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
      sigaddset(&signals.blocked, signal);
      // Those that the caller ignores (a shell's background jobs) end tracing all the same, as with strace.
      if (interruptible == Interruptible::waiting) {
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
