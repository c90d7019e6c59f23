// The two stops of a system call: its entry and its exit.
#include <cerrno>
#include <optional>
#include <utility>

#include "arch/syscall_abi.h"
#include "ptrace/ptrace_engine.h"
#include "ptrace/seccomp_filter.h"
#include "ptrace/tampering.h"
#include "ptrace/untraced_clones.h"

namespace tracer::ptrace {
namespace {

/// A filter of the program's own asks for a tracer. Without a tracer the kernel would deny the call, so we do.
void deny_call(const Stopped& thread) {
  if (thread.set_call_number(~std::uint64_t{0}).ok()) {
    static_cast<void>(thread.set_call_result(-ENOSYS, true));
  }
}

}  // namespace

void PtraceEngine::on_call_stop(Tracee& tracee, bool by_seccomp) {
  const auto state = call_states_.of(tracee, by_seccomp);
  if (!state || state->direction == Direction::neither) {
    threads_.resume(tracee);
    return;
  }
  if (state->filter_data.value_or(our_filter_data) != our_filter_data) {
    deny_call(stopped_thread(tracee));
  }
  tracee.direction_known = true;
  if (state->direction == Direction::entry) {
    on_entry(tracee, *state);
  } else {
    on_exit(tracee, *state);
  }
}

void PtraceEngine::on_entry(Tracee& tracee, const CallState& state) {
  if (tracee.in_call) {
    // The filter's stop follows the entry's where a thread is stopped at both.
    threads_.resume(tracee);
    return;
  }
  if (state.abi != tracee.abi && tracee.visible()) {
    tracee.stops_at_all = true;  // every change is reported, also to a call that the filter lets pass
  }
  tracee.abi = state.abi;
  if (tracee.is_suppressed()) {
    hide_untraced(tracee, state);
    tracee.in_call = tracee.hidden_untraced.has_value();
    threads_.resume(tracee);
    return;
  }
  tracee.in_call = true;
  const bool is_recorded = recorder_ && recorder_->before_call(tracee, state);
  tracee.call_system_time = tracee.system_time;
  if (tracee.visibility == Visibility::launching && arch::is_execve(state.abi, state.number)) {
    tracees_.set_visibility(tracee, Visibility::visible);
  }
  tracee.installing_filter =
      (tracee.filtered || recorder_) && tracee.visibility != Visibility::launching && installs_filter(state);
  if (recorder_ && tracee.installing_filter) {
    recorder_->distrust(tracee);
  }
  if (tracee.visible()) {
    trace::SyscallEnter enter;
    enter.number = state.number;
    enter.args = state.args;
    enter.instruction_pointer = state.instruction_pointer;
    enter.stack_pointer = state.stack_pointer;
    enter.interrupted = std::exchange(tracee.interrupted_call, std::nullopt);
    tracee.call_reported = true;
    trace::Event event = event_of(tracee, enter);
    tracee.tampering = {};
    if (handler_ != nullptr && !is_launching(tracee)) {
      tamper_at_entry(*handler_, tracee, event);
    }
    if (!is_recorded) {
      hand_out(tracee, event, tracee);
    }
  }
  hide_untraced(tracee, state);
  const trace::Tampering* wish = tracee.tampering.wish;
  if (wish != nullptr) {
    threads_.resume_after(tracee, wish->delay_enter, wish->signal);
  } else {
    threads_.resume(tracee);
  }
}

void PtraceEngine::on_exit(Tracee& tracee, const CallState& kernels) {
  CallState state = kernels;
  const bool reported = tracee.call_reported;
  tracee.in_call = false;
  tracee.call_reported = false;
  if (tracee.installing_filter && !state.is_error) {
    // A filter of its own can hide calls from ours; with SECCOMP_FILTER_FLAG_TSYNC it does so in the other threads,
    // too.
    for (const pid_t tid : tracees_.select([&](const Tracee& t) { return t.tgid == tracee.tgid; })) {
      tracees_.find(tid)->stops_at_all = true;
    }
  }
  tamper_at_exit(tracee, state);
  if (reported) {
    trace::SyscallExit exit;
    exit.tampered = tracee.tampering.done;
    exit.value = state.result;
    exit.is_error = state.is_error;
    exit.instruction_pointer = state.instruction_pointer;
    if (options_.cpu_time) {
      exit.cpu_time = tracee.system_time - tracee.call_system_time;
    }
    emit(tracee, exit);
    if (is_launching(tracee)) {
      // The only call until now is the execve. If it has failed, the child goes on with our own code.
      program_started_ = true;
      if (state.is_error) {
        end_.exec_error = static_cast<int>(-state.result);
        tracees_.set_visibility(tracee, Visibility::launching);
      }
    }
  }
  if (recorder_ && !is_launching(tracee)) {
    recorder_->after_call(tracee, kernels);
  }
  const CallTampering tampering = std::exchange(tracee.tampering, {});
  if (tampering.wish != nullptr) {
    threads_.resume_after(tracee, tampering.wish->delay_exit, 0);
  } else {
    threads_.resume(tracee);
  }
}

void PtraceEngine::end_call(Tracee& tracee) {
  if (tracee.call_reported) {
    tracee.call_reported = false;
    emit(tracee, trace::SyscallLost{});
  }
}

}  // namespace tracer::ptrace
