#include "ptrace/starved_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "arch/breakpoint.h"
#include "ptrace/function_hooks.h"
#include "ptrace/tracee.h"

namespace tracer::ptrace {
namespace {

constexpr unsigned most_repetitions = 6;  // 64 instructions: a few hundred microseconds

/// Whether a timer has sent the signal, so that it may come a few instructions later as well. What a thread
/// sends itself has arrived when the call returns.
bool is_of_timer(const siginfo_t& info) {
  const bool has_interval_timer =
      info.si_signo == SIGALRM || info.si_signo == SIGVTALRM || info.si_signo == SIGPROF;  // setitimer(2)
  return info.si_code == SI_TIMER || (info.si_code == SI_KERNEL && has_interval_timer);
}

/// Sends a signal again that was taken from the thread. If the next of a timer is pending, it is one with that.
void requeue(Tracee& tracee, const siginfo_t& signal) {
  siginfo_t ours = signal;
  ours.si_code = SI_QUEUE;  // the kernel lets nobody else's through
  ours.si_pid = ::getpid();
  if (::syscall(SYS_rt_tgsigqueueinfo, tracee.tgid, tracee.tid(), ours.si_signo, &ours) == 0) {
    tracee.signals.requeued = signal;
  }
}

void restore_requeued(Tracee& tracee, siginfo_t& info) {
  auto& requeued = tracee.signals.requeued;
  if (requeued && requeued->si_signo == info.si_signo) {
    if (info.si_code == SI_QUEUE && info.si_pid == ::getpid()) {
      info = *requeued;
      static_cast<void>(stopped_thread(tracee).set_signal_info(info));
    }
    requeued.reset();
  }
}

/// Whether the thread was here at one of the last signals.
bool comes_again(const SignalProgress& signals, const SignalProgress::Position& here) {
  return std::find(signals.delivered_at.begin(), signals.delivered_at.end(), here) != signals.delivered_at.end();
}

void note(SignalProgress& signals, const SignalProgress::Position& here) {
  if (!comes_again(signals, here)) {
    signals.delivered_at[signals.next] = here;
    signals.next = (signals.next + 1) % signals.delivered_at.size();
  }
}

enum class Run : std::uint8_t { moved, stays, at_call, failed };

/// Runs the next instruction.
Run run_one(Tracee& tracee, FunctionHooks* functions) {
  if (functions != nullptr && functions->pass_breakpoint(tracee)) {
    return std::holds_alternative<Stopped>(tracee.thread) && !tracee.detaching ? Run::moved : Run::failed;
  }
  const Stopped& thread = stopped_thread(tracee);
  const auto registers = thread.registers();
  if (!registers) {
    return Run::stays;
  }
  std::array<std::byte, arch::max_instruction_size> code{};
  tracee.memory.forget();
  const std::size_t size = tracee.memory.read(RemoteAddr(registers.value().instruction_pointer()), code);
  switch (arch::step_effect(registers.value(), std::span(code).first(size))) {
    case arch::StepEffect::makes_call:
      return Run::at_call;
    case arch::StepEffect::shows:
      return Run::stays;
    case arch::StepEffect::nothing:
      break;
  }
  const Status stepped = thread.step();
  if (!stepped && stepped.error().number != EINTR) {
    Running running = std::get<Stopped>(std::move(tracee.thread)).went_on();
    tracee.thread = std::move(running);
  }
  return stepped ? Run::moved : Run::failed;
}

}  // namespace

Delivery make_progress(Tracee& tracee, FunctionHooks* functions) {
  SignalProgress& signals = tracee.signals;
  siginfo_t info{};
  if (!stopped_thread(tracee).signal_info(info)) {
    return Delivery::now;
  }
  restore_requeued(tracee, info);
  if (!is_of_timer(info)) {
    return Delivery::now;
  }
  const auto registers = stopped_thread(tracee).registers();
  // What the kernel does with a call that it may restart depends on the signal that is delivered at this stop.
  if (!registers || is_to_be_restarted(registers.value().result())) {
    return Delivery::now;
  }
  const auto position = [](const arch::Registers& set) {
    return SignalProgress::Position{set.instruction_pointer(), set.stack_pointer()};
  };
  if (!comes_again(signals, position(registers.value()))) {
    signals.repetitions = 0;
    note(signals, position(registers.value()));
    return Delivery::now;
  }
  const unsigned most = 1U << signals.repetitions;
  signals.repetitions = std::min(signals.repetitions + 1, most_repetitions);
  Run run = Run::moved;
  unsigned done = 0;
  for (; done < most && run == Run::moved; ++done) {
    run = run_one(tracee, functions);
  }
  // What it has stopped for last must be a step's trap: only stops by signals can deliver one.
  const auto* thread = std::get_if<Stopped>(&tracee.thread);
  if (thread == nullptr || (run == Run::failed && !tracee.detaching) || thread->event() != 0) {
    requeue(tracee, info);
    return Delivery::later;
  }
  if (run == Run::at_call && done == 1) {
    // Only the stop at its entry shows the call, and comes before anything else if no signal does.
    if (const auto mask = stopped_thread(tracee).signal_mask(); mask) {
      static_cast<void>(stopped_thread(tracee).set_signal_mask(~std::uint64_t{0}));
      signals.held = {*mask, info};
      tracee.stops_at_all = true;
      return Delivery::later;
    }
  }
  if (functions != nullptr) {
    functions->put_back(tracee);
  }
  if (const auto now = stopped_thread(tracee).registers()) {
    note(signals, position(now.value()));
  }
  static_cast<void>(stopped_thread(tracee).set_signal_info(info));
  return Delivery::now;
}

void end_hold(Tracee& tracee) {
  if (const auto held = std::exchange(tracee.signals.held, std::nullopt)) {
    static_cast<void>(stopped_thread(tracee).set_signal_mask(held->mask));
    requeue(tracee, held->signal);
  }
}

}  // namespace tracer::ptrace
