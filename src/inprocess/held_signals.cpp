// The part of CallRecording for processors whose kernel has put a thread back to its call instruction before a signal's
// stop shows that a call was interrupted (arch::Registers::rewinds_before_signals). The kernel lets the call fail only
// if the thread is still there, so the signal comes again when the thread is in the call by its own instruction.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "inprocess/call_recording.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {

namespace {

/// Whether the signal is about an instruction, and has not come from elsewhere.
bool is_about_instruction(const siginfo_t& info) {
  constexpr std::array about{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
  return info.si_code > 0 && std::find(about.begin(), about.end(), info.si_signo) != about.end();
}

}  // namespace

bool CallRecording::hold_signal(const ptrace::Tracee& tracee, Thread& thread) const {
  siginfo_t info{};
  if (!ptrace::stopped_thread(tracee).signal_info(info)) {
    return false;
  }
  thread.held.push_back(info);
  return true;
}

bool CallRecording::is_held(const ptrace::Tracee& tracee) {
  Thread* thread = find(tracee.tid());
  if (thread == nullptr) {
    return false;
  }
  const auto& stopped = ptrace::stopped_thread(tracee);
  siginfo_t info{};
  if (!thread->held.empty()) {
    return stopped.signal_info(info) && !is_about_instruction(info) && hold_signal(tracee, *thread);
  }
  if (thread->sent.empty() || !stopped.signal_info(info) || info.si_code != SI_QUEUE ||
      reinterpret_cast<std::uint64_t>(info.si_value.sival_ptr) != held_mark_) {
    return false;
  }
  const auto own = std::find_if(thread->sent.begin(), thread->sent.end(),
                                [&](const siginfo_t& sent) { return sent.si_signo == info.si_signo; });
  if (own != thread->sent.end()) {
    static_cast<void>(stopped.set_signal_info(*own));
    thread->sent.erase(own);
  }
  return false;
}

bool CallRecording::send_held(ptrace::Tracee& tracee, const ptrace::CallState& state) {
  Thread* thread = find(tracee.tid());
  if (thread == nullptr) {
    return false;
  }
  for (const siginfo_t& held : std::exchange(thread->held, {})) {
    siginfo_t info{};
    info.si_signo = held.si_signo;
    info.si_code = SI_QUEUE;
    info.si_value.sival_ptr = reinterpret_cast<void*>(held_mark_);
    if (::syscall(SYS_rt_tgsigqueueinfo, tracee.tgid, tracee.tid(), held.si_signo, &info) == 0) {
      thread->sent.push_back(held);
    }
  }
  const auto reported = std::exchange(thread->reported_call, std::nullopt);
  if (reported && *reported != state.number) {
    trace::SyscallExit exit;
    exit.value = -513;  // ERESTARTNOINTR
    exit.is_error = true;
    exit.instruction_pointer = state.instruction_pointer;
    calls_.on_left(tracee, exit);
    return false;
  }
  return reported.has_value();
}

}  // namespace tracer::inprocess
