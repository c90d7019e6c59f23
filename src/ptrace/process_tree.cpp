// How the processes and threads that are traced come from each other, become another program, and end.
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/syscall_abi.h"
#include "proc/proc_files.h"
#include "ptrace/ptrace_engine.h"
#include "ptrace/untraced_clones.h"

namespace tracer::ptrace {
namespace {

/// Whether two processes have their memory in common, as after a vfork.
bool share_memory(pid_t one, pid_t other) {
  return ::syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

}  // namespace

void PtraceEngine::on_fork(Tracee& parent) {
  const auto child = stopped_thread(parent).event_message();
  if (!child || *child <= 0) {
    return;
  }
  const bool is_thread = proc::is_thread_of(*child, parent.tgid);
  const auto untraced = parent.hidden_untraced;
  restore_untraced(parent);
  if (untraced) {
    // The child is not even reported, as without a filter. Nobody waits for the end of a suppressed thread's call now.
    parent.in_call = parent.visible();
  } else if (parent.visible() && (options_.follow_forks || (is_thread && functions_))) {
    emit(parent, trace::Fork{*child, is_thread});
  }
  adopt(*child, is_thread ? parent.tgid : *child, &parent, untraced);
}

void PtraceEngine::adopt(pid_t tid, pid_t tgid, Tracee* parent, const std::optional<HiddenFlag>& untraced) {
  if (tracees_.find(tid) != nullptr) {
    return;
  }
  const bool is_thread = parent != nullptr && parent->tgid == tgid;
  const bool seen =
      !untraced && (options_.follow_forks || (is_thread && functions_)) && (parent == nullptr || parent->visible());
  const bool filtered = parent != nullptr ? parent->filtered : attacher_.has_filter();
  const bool detaching = (threads_.detaches_from_all() && !filtered) || (parent != nullptr && parent->detaching);
  Tracee& tracee = tracees_.add(Running::followed(tid), tgid, seen ? Visibility::visible : Visibility::suppressed);
  tracee.abi = parent != nullptr ? parent->abi : arch::native_abi();
  tracee.filtered = filtered;
  tracee.recorded = recorder_ != nullptr;
  tracee.stops_at_all = parent != nullptr && parent->stops_at_all;
  tracee.detaching = detaching;
  if (untraced) {
    inherit_untraced(*untraced, tracee);
  }
  const bool shares_memory =
      parent != nullptr && (functions_ || recorder_) && (is_thread || share_memory(parent->tid(), tid));
  if (recorder_ && parent != nullptr) {
    recorder_->inherit(*parent, tracee, shares_memory);
  }
  if (functions_ && parent != nullptr) {
    functions_->inherit(*parent, tracee, shares_memory);
  }
  if ((functions_ || recorder_) && parent != nullptr) {
    // We clean a copy and detach from it; a process that shares the memory needs us until its own execve.
    tracee.detaching = detaching || (!seen && !filtered && !shares_memory);
  }
  if (seen && !detaching) {
    emit(tracee, trace::Attached{});
  }
  auto early = early_.take(tid);
  // An earlier owner of the id may have ended, which says nothing of this one.
  if (early && (early->is_stop() || !proc::is_alive(tid))) {
    on_report(std::move(*early));
  }
}

void PtraceEngine::adopt_orphans(std::optional<pid_t> execed) {
  for (const pid_t tid : early_.orphans(tracees_, execed)) {
    if (early_.is_stop(tid)) {
      adopt(tid, proc::process_of(tid), nullptr);
    } else {
      complain_of_exit(tid, early_.status(tid));
    }
    early_.forget(tid);
  }
}

Tracee* PtraceEngine::find_execed(const Stopped& thread, pid_t former) {
  const pid_t tid = thread.tid();
  Tracee* leader = tracees_.find(tid);
  Tracee* caller = former != tid ? tracees_.find(former) : nullptr;
  if (caller == nullptr) {
    return leader;
  }
  // A thread other than the leader called execve and takes over the leader's id.
  if (leader != nullptr) {
    end_call(*leader);
    if (functions_) {
      functions_->end_calls(*leader);
    }
  }
  const bool reports_exit = leader != nullptr && leader->visibility != Visibility::suppressed;
  Tracee& tracee = tracees_.take_over(*caller, tid);
  if (reports_exit && tracee.visibility == Visibility::suppressed) {
    tracees_.set_visibility(tracee, Visibility::exit_only);
  }
  return &tracee;
}

void PtraceEngine::on_exec(Tracee& tracee, pid_t former) {
  tracee.memory.forget();
  tracees_.choose_reader(tracee);
  if (recorder_) {
    recorder_->on_exec(tracee, former);
  }
  if (tracee.visible()) {
    if (functions_) {
      functions_->end_calls(tracee);
    }
    const auto registers = stopped_thread(tracee).registers();
    const auto abi = registers ? std::optional(registers.value().call_abi({})) : std::nullopt;
    emit(tracee, trace::Exec{former, abi});
    tracee.abi = abi.value_or(tracee.abi);
  }
  if (functions_) {
    functions_->leave_program(tracee);
  }
  if ((functions_ || recorder_) && tracee.visibility == Visibility::suppressed && !tracee.filtered) {
    tracee.detaching = true;
  } else if (functions_ && tracee.visible() && !tracee.detaching) {
    functions_->begin(tracee);
  }
  if (!early_.empty()) {
    adopt_orphans(tracee.tgid);  // the threads that the execve has ended report nothing any more
  }
}

void PtraceEngine::on_end(Tracee& tracee, int status) {
  const pid_t tid = tracee.tid();
  end_call(tracee);
  if (functions_) {
    functions_->end_calls(tracee);
    if (tid == tracee.tgid) {
      functions_->leave_program(tracee);  // the exit of a leader is reported last
    }
  }
  if (tid == attacher_.program()) {
    end_.program_status = status;
  }
  if (tracee.visible() || tracee.visibility == Visibility::exit_only ||
      (tid == attacher_.program() && end_.exec_error != 0)) {
    emit(tracee, trace::Exited{status});
  }
  tracees_.erase(tid);
}

}  // namespace tracer::ptrace
