#include "ptrace/thread_control.h"

#include <utility>

namespace tracer::ptrace {

void ThreadControl::resume(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  if (tracee.detaching && !tracee.tampering.owed) {
    finish_detach(tracee, signal);
    return;
  }
  tracee.memory.forget();
  const bool freely = !tracee.tampering.owed && !tracee.hidden_untraced &&
                      (tracee.is_suppressed() ||
                       ((tracee.filtered || tracee.dispatched || (functions_ != nullptr && options_.only_functions)) &&
                        !tracee.stops_at_all && !tracee.in_call && tracee.visibility != Visibility::launching));
  tracee.thread = std::move(*stopped).resume(freely ? Resume::freely : Resume::to_next_call, signal);
}

void ThreadControl::listen(Tracee& tracee) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  if (tracee.detaching) {
    finish_detach(tracee, 0);
    return;
  }
  tracee.memory.forget();
  tracee.thread = std::move(*stopped).resume(Resume::listening, 0);
}

void ThreadControl::resume_after(Tracee& tracee, std::optional<std::chrono::nanoseconds> delay, int signal) {
  if (!delay || delay->count() <= 0 || tracee.detaching) {
    resume(tracee, signal);
    return;
  }
  held_.hold(tracee, *delay, signal);
}

void ThreadControl::release(Tracee& tracee) {
  if (std::exchange(tracee.held_until, std::nullopt)) {
    resume(tracee, tracee.held_signal);
  }
}

void ThreadControl::release_due() {
  while (Tracee* tracee = held_.take_due(tracees_)) {
    release(*tracee);
  }
}

}  // namespace tracer::ptrace
