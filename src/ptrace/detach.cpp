// Detaching without harm: each thread is brought to a stop, and PTRACE_DETACH delivers the signal that it stopped for,
// if any.
#include <utility>
#include <vector>

#include "proc/proc_files.h"
#include "ptrace/thread_control.h"

namespace tracer::ptrace {

void ThreadControl::detach(Tracee& tracee) {
  if (tracee.detaching || tracee.visibility == Visibility::suppressed) {
    return;
  }
  if (tracee.filtered) {
    // It cannot do without a tracer; it is only not reported any more.
    tracee.call_reported = false;
    tracee.tampering.wish = nullptr;
    const bool was_visible = tracee.visible();
    tracees_.set_visibility(tracee, Visibility::suppressed);
    if (was_visible) {
      sink_.emit(tracee, trace::Detached{});
    }
    release(tracee);
    return;
  }
  tracee.detaching = true;
  if (tracee.held_until) {
    release(tracee);
    return;
  }
  // A stopped one is being served just now, and resume() detaches from it when that is done.
  if (const auto* running = std::get_if<Running>(&tracee.thread)) {
    running->interrupt();
  }
}

void ThreadControl::detach_process(pid_t tgid) {
  for (const pid_t tid : tracees_.select([&](const Tracee& t) { return t.tgid == tgid; })) {
    detach(*tracees_.find(tid));
  }
}

bool ThreadControl::detach_all() {
  if (std::exchange(detaching_all_, true)) {
    return false;
  }
  for (const pid_t tid : tracees_.select([](const Tracee&) { return true; })) {
    detach(*tracees_.find(tid));
  }
  held_.clear();
  return true;
}

bool ThreadControl::detach_suppressed() {
  if (functions_ == nullptr) {
    return false;
  }
  const auto ours =
      tracees_.select([](const Tracee& t) { return t.visibility == Visibility::suppressed && !t.filtered; });
  for (const pid_t tid : ours) {
    Tracee& tracee = *tracees_.find(tid);
    if (const auto* running = std::get_if<Running>(&tracee.thread); running != nullptr && !tracee.detaching) {
      running->interrupt();
    }
    tracee.detaching = true;
  }
  return !ours.empty();
}

void ThreadControl::finish_detach(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  const pid_t tid = tracee.tid();
  if (functions_ != nullptr) {
    using When = Detachment::When;
    const bool was_held = signal == SIGSTOP && functions_->on_held(tracee);
    const Detachment detachment = functions_->prepare_detach(tracee, signal == SIGTRAP);
    signal = detachment.was_at_trap || was_held ? 0 : signal;
    if (detachment.when == When::after_stop) {
      tracee.thread = std::move(*stopped).went_on();
      return;
    }
    if (detachment.when != When::now) {
      Running running = std::move(*stopped).resume(Resume::freely, signal);
      if (detachment.when == When::at_rest) {
        running.interrupt();
      }
      tracee.thread = std::move(running);
      return;
    }
  }
  std::move(*stopped).detach(signal);
  tracee.call_reported = false;
  if (tracee.visible()) {
    sink_.emit(tracee, trace::Detached{});
  }
  tracees_.erase(tid);
}

void ThreadControl::abandon_stragglers() {
  for (const pid_t tid : tracees_.select([](const Tracee& t) { return !t.filtered; })) {
    Tracee& tracee = *tracees_.find(tid);
    // It may have run into a breakpoint, and would die of that without us. One that cannot stop (D) has not done so.
    if (tracee.functions != nullptr && !proc::status_field(tid, "State").starts_with('D')) {
      continue;
    }
    if (tracee.visible()) {
      sink_.emit(tracee, trace::Detached{});
    }
    tracees_.erase(tid);
  }
}

}  // namespace tracer::ptrace
