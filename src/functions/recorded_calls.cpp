// The part of FunctionTracer for calls that are recorded, in the kernel or in the process: what recorders need beside
// what they hand out.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "functions/function_tracer.h"
#include "ptrace/call_recorder.h"

namespace tracer::functions {

void FunctionTracer::on_untaken(ptrace::Tracee& tracee, const CountingStubs::Untaken& untaken,
                                arch::Registers registers, const arch::Registers& at_trap) {
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  const std::shared_ptr<Breakpoints> space = thread_state(tracee)->space;
  std::uint64_t to = untaken.jump;
  ptrace::CallRecorder* recorder = sink_.recorder();
  if (!space->withdrawal.is_done && !tracee.detaching &&
      (recorder == nullptr || !recorder->admit(tracee, space->withdrawal.call_instruction))) {
    registers.set_instruction_pointer(untaken.place);
    tracee.without_trap = &registers;
    on_breakpoint(tracee, registers, untaken.place);
    tracee.without_trap = nullptr;
    const auto into = std::as_writable_bytes(std::span(&to, 1));
    static_cast<void>(tracee.memory.read(RemoteAddr(untaken.slot), into));
  }
  if (!ptrace::has_report(tracee.tid())) {
    registers.set_instruction_pointer(to);
    static_cast<void>(thread.set_registers(registers, at_trap));
  }
}

void FunctionTracer::collect() {
  Recorder* recorder = counter_.recorder();
  // A report may have us detach from threads, which collects, too.
  if (recorder == nullptr || std::exchange(collecting_, true)) {
    return;
  }
  bool any = false;
  recorder->take([&](const trace::FunctionRecorder::Hit& hit) {
    any = true;
    on_recorded(hit);
  });
  collecting_ = false;
  constexpr std::chrono::milliseconds shortest(2);
  constexpr std::chrono::milliseconds longest(32);
  pause_ = any ? shortest
               : std::min<std::chrono::nanoseconds>(std::max<std::chrono::nanoseconds>(2 * pause_, shortest), longest);
  due_ = clock_now(CLOCK_MONOTONIC) + pause_;
}

std::optional<std::chrono::nanoseconds> FunctionTracer::due() const {
  return counter_.recorder() != nullptr ? std::optional(due_) : std::nullopt;
}

void FunctionTracer::restore_stack(ptrace::Tracee& tracee, Abi abi) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  const std::uint64_t trampoline = space.recording.find_trampoline(tracee.tid());
  if (trampoline == 0) {
    return;
  }
  for (const OpenCall& call : thread_state(tracee)->calls.calls()) {
    std::uint64_t there = 0;
    const auto word = std::as_writable_bytes(std::span(&there, 1)).first(word_size(abi));
    const RemoteAddr place(call.stack_pointer);
    if (tracee.memory.read(place, word) != word.size() || there != trampoline ||
        space.module_at(call.return_address) == nullptr) {
      continue;
    }
    std::memcpy(word.data(), &call.return_address, word.size());
    static_cast<void>(thread.write(place, word));
    space.add_in_code(thread, tracee.memory, call.return_address,
                      [](Breakpoint& breakpoint) { breakpoint.returns_here = true; });
  }
  tracee.memory.forget();
}

bool FunctionTracer::on_held(ptrace::Tracee& tracee) {
  join(tracee);
  ThreadState* state = thread_state(tracee);
  siginfo_t info;
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  // What says who is held may have been lost. Nothing else sends a SIGSTOP from within the kernel.
  if (state == nullptr || counter_.recorder() == nullptr || !thread.signal_info(info) || info.si_code != SI_KERNEL) {
    return false;
  }
  for (const std::uint64_t address : std::exchange(state->unseen_returns, {})) {
    if (state->space->withdrawal.is_done) {
      break;
    }
    state->space->add_in_code(thread, tracee.memory, address, [](Breakpoint& there) { there.returns_here = true; });
  }
  return true;
}

}  // namespace tracer::functions
