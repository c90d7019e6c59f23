// The part of CallRecording that gets threads out of code of ours: they go on where they would be without it.
#include <signal.h>
#include <sys/syscall.h>

#include "arch/call_site.h"
#include "inprocess/call_recording.h"
#include "inprocess/recorded_functions.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {

bool CallRecording::take_out(ptrace::Tracee& tracee, bool faulted) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  const auto registers = stopped.registers();
  Process& process = process_of(tracee);
  if (!registers || !process.image) {
    collect();
    return false;
  }
  const std::uint64_t at = registers.value().instruction_pointer();
  if (is_in_recorder(at)) {
    return leave_recorder(tracee, registers.value(), faulted);
  }
  collect();
  if (const auto original = process.patcher.original_of(at)) {
    arch::Registers moved = registers.value();
    moved.set_instruction_pointer(*original);
    static_cast<void>(stopped.set_registers(moved));
    siginfo_t info{};
    if (faulted && stopped.signal_info(info) && reinterpret_cast<std::uint64_t>(info.si_addr) == at) {
      // The stub itself is gone.
      if (const auto undone = process.patcher.undo(stopped, at)) {
        moved.set_instruction_pointer(*undone);
        static_cast<void>(stopped.set_registers(moved));
        return true;
      }
    }
  }
  return false;
}

bool CallRecording::leave_recorder(ptrace::Tracee& tracee, const arch::Registers& found, bool faulted) {
  const Symbols& symbols = contents_.symbols();
  const auto& stopped = ptrace::stopped_thread(tracee);
  arch::Registers registers = found;
  const std::uint64_t at = registers.instruction_pointer();
  if (at >= symbols.copy && at < symbols.behind_copy && faulted) {
    arch::end_copy(registers, symbols.behind_copy);
    static_cast<void>(stopped.set_registers(registers));
    return true;
  }
  if (!arch::leave_entry(registers, {symbols.entry, symbols.entered}, symbols.labels, tracee.memory)) {
    const Thread* thread = find(tracee.tid());
    const auto report_return = [this](trace::FunctionRecorder::Hit& hit) {
      collect();  // what came before
      clock_.look();
      hit.time = clock_.time_at(arch::clock_ticks());
      calls_.on_recorded(hit);
    };
    if (leave_function(tracee, registers, symbols, thread != nullptr ? &thread->ring.area() : nullptr, report_return)) {
      collect();
      return faulted;
    }
    return leave_body(tracee, registers, faulted);
  }
  static_cast<void>(stopped.set_registers(registers));
  collect();
  return faulted;
}

bool CallRecording::leave_body(ptrace::Tracee& tracee, arch::Registers registers, bool faulted) {
  Thread* thread = find(tracee.tid());
  if (thread == nullptr) {
    collect();
    return false;
  }
  const Symbols& symbols = contents_.symbols();
  const ThreadArea& area = thread->ring.area();
  Area& counts = thread->ring.whole_area();
  const arch::CallRegisters program = area.program;
  const std::uint64_t at = registers.instruction_pointer();
  const bool noting = at >= symbols.behind_call && at < symbols.noted && area.phase == phase_calling;
  if (area.phase == phase_leaving || noting) {
    const std::uint64_t result = noting ? static_cast<std::uint64_t>(registers.result()) : area.result;
    collect();
    arch::put_behind_call(registers, program, result);
    static_cast<void>(ptrace::stopped_thread(tracee).set_registers(registers));
    if (tracee.detaching && is_to_be_restarted(static_cast<std::int64_t>(result))) {
      thread->ring.close_call();  // it goes on without us
    } else if (thread->ring.has_open_call()) {
      thread->ring.close_call();
      trace::SyscallExit exit;
      exit.value = static_cast<std::int64_t>(result);
      exit.is_error = is_error(exit.value);
      exit.instruction_pointer = program.behind_call;
      calls_.on_left(tracee, exit);
    } else {
      settle_count(counts, static_cast<std::int64_t>(result));
    }
  } else {
    // The kernel is about to go on with a call that was interrupted, such as the rest of a sleep.
    const bool goes_on = area.phase == phase_calling && at == symbols.call && registers.result() == SYS_restart_syscall;
    const bool taken_back = !goes_on && (area.phase != phase_calling || thread->ring.take_back_entry());
    const std::uint64_t number = goes_on                       ? SYS_restart_syscall
                                 : area.phase == phase_calling ? area.number
                                                               : area.result;
    collect();
    arch::put_before_call(registers, program, number);
    static_cast<void>(ptrace::stopped_thread(tracee).set_registers(registers));
    constexpr std::int64_t restarts = -516;  // ERESTART_RESTARTBLOCK
    if (tracee.detaching) {
      thread->ring.close_call();
    } else if (goes_on && !thread->ring.has_open_call()) {
      settle_count(counts, restarts);
    } else if (!taken_back && thread->ring.has_open_call()) {
      // It was reported a moment ago, so it ends as if the kernel had been about to restart it, which it may always do.
      thread->ring.close_call();
      trace::SyscallExit exit;
      exit.value = goes_on ? restarts : -513;  // ERESTARTNOINTR
      exit.is_error = true;
      exit.instruction_pointer = program.behind_call;
      calls_.on_left(tracee, exit);
    }
  }
  if (faulted) {
    thread->ring.area().off = 1;  // what is ours is not there any more
  }
  return faulted;
}

}  // namespace tracer::inprocess
