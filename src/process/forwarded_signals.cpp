#include "process/forwarded_signals.h"

namespace tracer::process {

DefaultChildAction::DefaultChildAction() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &former_);
}

DefaultChildAction::~DefaultChildAction() {
  ::sigaction(SIGCHLD, &former_, nullptr);
}

void forward_signal(const sigset_t& awaited, pid_t child) {
  siginfo_t info{};
  const int signal = ::sigwaitinfo(&awaited, &info);
  if (signal > 0 && signal != SIGCHLD && signal != SIGIO && info.si_code != SI_KERNEL) {
    ::kill(child, signal);
  }
}

ForwardedSignals::ForwardedSignals() {
  ::sigemptyset(&held_);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) {
    ::sigaddset(&held_, signal);
  }
  ::sigprocmask(SIG_BLOCK, &held_, &former_);
}

ForwardedSignals::~ForwardedSignals() {
  ::sigprocmask(SIG_SETMASK, &former_, nullptr);
}

int ForwardedSignals::wait_for(Child child) const {
  for (;;) {
    if (const std::optional<int> status = child.ended()) {
      return *status;
    }
    forward_signal(held_, child.pid());
  }
}

}  // namespace tracer::process
