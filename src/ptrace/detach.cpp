// Letting tracees go unharmed: each thread is brought to a stop, and PTRACE_DETACH delivers the signal that it stopped
// for, if any.
#include <vector>

#include "ptrace/ptrace_engine.h"

namespace tracer {

void PtraceEngine::begin_detach(pid_t tgid) {
  for (const pid_t tid : tracees_.select([&](const Tracee& t) { return t.tgid == tgid && !t.detaching; })) {
    Tracee& tracee = *tracees_.find(tid);
    tracee.detaching = true;
    // A stopped one is being served just now and is let go when that is done.
    if (const auto* running = std::get_if<Running>(&tracee.thread)) {
      running->interrupt();
    }
  }
}

void PtraceEngine::begin_detach_all() {
  if (detaching_all_) {
    return;
  }
  detaching_all_ = true;
  for (const pid_t tid : tracees_.select([](const Tracee& t) { return !t.detaching; })) {
    Tracee& tracee = *tracees_.find(tid);
    tracee.detaching = true;
    if (const auto* running = std::get_if<Running>(&tracee.thread)) {
      running->interrupt();
    }
  }
}

void PtraceEngine::finish_detach(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  const pid_t tid = tracee.tid();
  std::move(*stopped).detach(signal);
  tracee.call_reported = false;
  if (tracee.visible()) {
    emit(tracee, Detached{});
  }
  tracees_.erase(tid);
}

void PtraceEngine::abandon_stragglers() {
  for (const pid_t tid : tracees_.select([](const Tracee&) { return true; })) {
    Tracee& tracee = *tracees_.find(tid);
    if (tracee.visible()) {
      emit(tracee, Detached{});
    }
    tracees_.erase(tid);
  }
}

}  // namespace tracer
