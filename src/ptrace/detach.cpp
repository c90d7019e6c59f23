// Detaching without harm: each thread is brought to a stop, and PTRACE_DETACH delivers the signal that it stopped for,
// if any.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "proc/proc_files.h"
#include "ptrace/thread_control.h"

namespace tracer::ptrace {
namespace {

// Longer than a disk keeps a thread waiting that is in code of ours; shorter than anybody wants to wait for the others.
constexpr std::chrono::seconds longest_wait{2};
/// A thousand threads of a busy machine take their time. Those that stop over and over shall not take any more.
constexpr std::chrono::seconds longest_detaching{30};

/// Whether the thread may have run into a breakpoint, of which it would die without us. One that cannot stop (D) has
/// not done so, and neither has one that has ended, as the first thread of a process may long before the others.
bool may_be_at_breakpoint(pid_t tid) {
  const std::string state = proc::status_field(tid, "State");
  return !state.empty() && std::string_view("DZX").find(state.front()) == std::string_view::npos;
}

}  // namespace

void ThreadControl::detach(Tracee& tracee) {
  // Suppressed threads are detached from when no others are left, but for those that others wait for then.
  if (tracee.detaching || (tracee.visibility == Visibility::suppressed && (recorder_ == nullptr || tracee.filtered))) {
    return;
  }
  if (tracee.filtered) {
    // It cannot do without a tracer; it is only not reported any more.
    tracee.call_reported = false;
    tracee.tampering.wish = nullptr;
    const bool was_visible = tracee.visible();
    if (functions_ != nullptr) {
      functions_->conclude(tracee);
    }
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
  detaching_since_ = clock_now(CLOCK_MONOTONIC);
  abandon_at_ = detaching_since_ + longest_wait;
  return true;
}

bool ThreadControl::is_tired_of_waiting() const {
  return detaching_all_ && (recorder_ == nullptr || clock_now(CLOCK_MONOTONIC) >= abandon_at_);
}

bool ThreadControl::may_abandon() const {
  return detaching_all_ && (recorder_ == nullptr || clock_now(CLOCK_MONOTONIC) >= detaching_since_ + longest_wait);
}

bool ThreadControl::detach_suppressed() {
  if (functions_ == nullptr && recorder_ == nullptr) {
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
  if (detaching_all_) {
    abandon_at_ = std::min(clock_now(CLOCK_MONOTONIC) + longest_wait, detaching_since_ + longest_detaching);
  }
  try_detach(tracee, signal);
}

void ThreadControl::try_detach(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  const pid_t tid = tracee.tid();
  // Before functions_, which may have it make calls of ours.
  if (recorder_ != nullptr && !recorder_->take_out_for_good(tracee)) {
    run_on(tracee, signal);
    return;
  }
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
      const Running& running = run_on(tracee, signal);
      if (detachment.when == When::at_rest) {
        running.interrupt();
      }
      return;
    }
  }
  if (recorder_ != nullptr && !may_detach(tracee, signal)) {
    return;
  }
  std::get<Stopped>(std::move(tracee.thread)).detach(signal);
  tracee.call_reported = false;
  if (tracee.visible()) {
    sink_.emit(tracee, trace::Detached{});
  }
  tracees_.erase(tid);
}

bool ThreadControl::may_detach(Tracee& tracee, int signal) {
  const Leaving leaving = recorder_->prepare_detach(tracee);
  switch (leaving) {
    case Leaving::now:
      return true;
    case Leaving::with_others:
      tracee.waits_to_detach = true;
      tracee.held_signal = signal;
      waiting_.push_back(tracee.tid());
      return false;
    case Leaving::after_stop:
      tracee.thread = std::get<Stopped>(std::move(tracee.thread)).went_on();
      return false;
    case Leaving::at_rest:
      break;
  }
  run_on(tracee, signal).interrupt();
  return false;
}

const Running& ThreadControl::run_on(Tracee& tracee, int signal) {
  tracee.memory.forget();
  tracee.thread = std::get<Stopped>(std::move(tracee.thread)).resume(Resume::freely, signal);
  return std::get<Running>(tracee.thread);
}

void ThreadControl::detach_waiting() {
  pid_t waits_yet = 0;
  for (const pid_t tid : std::exchange(waiting_, {})) {
    Tracee* tracee = tracees_.find(tid);
    if (tracee == nullptr || !tracee->waits_to_detach) {
      continue;  // it has ended
    }
    const pid_t process = tracee->tgid;
    if (process == waits_yet) {
      waiting_.push_back(tid);
      continue;
    }
    tracee->waits_to_detach = false;
    try_detach(*tracee, tracee->held_signal);
    tracee = tracees_.find(tid);
    waits_yet = tracee != nullptr && tracee->waits_to_detach ? process : 0;
  }
}

void ThreadControl::abandon_stragglers() {
  if (recorder_ != nullptr) {
    recorder_->abandon();
    detach_waiting();
  }
  for (const pid_t tid : tracees_.select([](const Tracee& t) { return !t.filtered; })) {
    Tracee& tracee = *tracees_.find(tid);
    if (tracee.functions != nullptr && may_be_at_breakpoint(tid)) {
      continue;
    }
    if (tracee.visible()) {
      sink_.emit(tracee, trace::Detached{});
    }
    tracees_.erase(tid);
  }
}

}  // namespace tracer::ptrace
