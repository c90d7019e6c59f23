#include "process/signal_watch.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "process/ending_signals.h"

namespace tracer::process {

SignalWatch::SignalWatch(Interruptible interruptible) {
  EndingSignals signals = ending_signals(interruptible);
  sigprocmask(SIG_BLOCK, &signals.blocked, &former_mask_);
  sigaddset(&signals.watched, SIGCHLD);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;  // where it was ignored, the kernel would not send it
  sigaction(SIGCHLD, &action, &former_child_);
  fd_ = UniqueFd(::signalfd(-1, &signals.watched, SFD_CLOEXEC | SFD_NONBLOCK));
  require(fd_.valid(), "signalfd");
  sigset_t ending = signals.watched;
  ::sigdelset(&ending, SIGCHLD);
  watchdog_.emplace(ending);
}

SignalWatch::~SignalWatch() {
  watchdog_.reset();
  sigaction(SIGCHLD, &former_child_, nullptr);
  sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
}

int SignalWatch::next() const {
  signalfd_siginfo info;
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void SignalWatch::engine_ends(int signal) {
  watchdog_->owner_ends(signal);
}

}  // namespace tracer::process
