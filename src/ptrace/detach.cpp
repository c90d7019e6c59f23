// Letting tracees go unharmed: each thread is brought to a stop, and PTRACE_DETACH delivers the signal that it stopped
// for, if any.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "proc/proc_files.h"
#include "ptrace/ptrace_engine.h"

namespace tracer::ptrace {

void PtraceEngine::let_go(Tracee& tracee) {
  if (tracee.detaching || tracee.visibility == Visibility::suppressed) {
    return;
  }
  if (tracee.filtered) {
    // It cannot do without a tracer; it only ceases to be reported.
    tracee.call_reported = false;
    tracee.tampering.wish = nullptr;
    const bool was_visible = tracee.visible();
    tracees_.set_visibility(tracee, Visibility::suppressed);
    if (was_visible) {
      emit(tracee, trace::Detached{});
    }
    release(tracee);
    return;
  }
  tracee.detaching = true;
  if (tracee.held_until) {
    release(tracee);
    return;
  }
  // A stopped one is being served just now and is let go when that is done.
  if (const auto* running = std::get_if<Running>(&tracee.thread)) {
    running->interrupt();
  }
}

void PtraceEngine::begin_detach(pid_t tgid) {
  for (const pid_t tid : tracees_.select([&](const Tracee& t) { return t.tgid == tgid; })) {
    let_go(*tracees_.find(tid));
  }
}

void PtraceEngine::begin_detach_all() {
  if (detaching_all_) {
    return;
  }
  detaching_all_ = true;
  for (const pid_t tid : tracees_.select([](const Tracee&) { return true; })) {
    let_go(*tracees_.find(tid));
  }
  held_.clear();
  waiter_->expect_reports();
}

bool PtraceEngine::must_free_suppressed() {
  if (!functions_) {
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

void PtraceEngine::finish_detach(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  const pid_t tid = tracee.tid();
  if (functions_) {
    using When = Detachment::When;
    const Detachment detachment = functions_->prepare_detach(tracee, signal == SIGTRAP);
    signal = detachment.was_at_trap ? 0 : signal;
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
    emit(tracee, trace::Detached{});
  }
  tracees_.erase(tid);
}

void PtraceEngine::abandon_stragglers() {
  for (const pid_t tid : tracees_.select([](const Tracee& t) { return !t.filtered; })) {
    Tracee& tracee = *tracees_.find(tid);
    // It may have run into a breakpoint, and would die of that without us. What cannot stop has not.
    if (tracee.functions != nullptr && !proc::status_field(tid, "State").starts_with('D')) {
      continue;
    }
    if (tracee.visible()) {
      emit(tracee, trace::Detached{});
    }
    tracees_.erase(tid);
  }
}

void PtraceEngine::finish(int wait_status) {
  if (filter_.empty() || tracees_.size() == 0) {
    return;
  }
  // From here on nobody may see us: not the terminal, nor a reader that waits for the end of our output.
  waiter_->ignore_signals();
  if (proxy_) {
    proxy_->end(wait_status);
  }
  ::setsid();
  [[maybe_unused]] const int moved = ::chdir("/");
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null.get(), standard);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  while (tracees_.size() != 0) {
    Outcome outcome = waiter_->next();
    if (auto* report = std::get_if<Report>(&outcome)) {
      on_report(std::move(*report));
    } else if (std::holds_alternative<NothingLeft>(outcome)) {
      break;
    } else {
      adopt_orphans(std::nullopt);
    }
  }
  ::_exit(0);
}

}  // namespace tracer::ptrace
