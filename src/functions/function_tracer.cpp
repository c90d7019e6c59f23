#include "functions/function_tracer.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>

#include <cerrno>
#include <cstdlib>

#include "functions/inject.h"
#include "functions/landings.h"
#include "functions/probe_hits.h"
#include "functions/stopped_context.h"
#include "proc/proc_files.h"

namespace tracer::functions {
namespace {

/// Whether the set of signals that /proc/TID/status shows as `field` has this one.
bool has_signal(pid_t tid, const std::string& field, int signal) {
  return ((std::strtoull(proc::status_field(tid, field).c_str(), nullptr, 16) >> (signal - 1)) & 1) != 0;
}

/// Whether the signal that has stopped the thread is the kernel's word of a breakpoint, or says so.
bool is_at_trap(const ptrace::Stopped& thread) {
  siginfo_t info;
  return thread.signal_info(info) && info.si_signo == SIGTRAP &&
         (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

bool only_probes(const library::LibrarySelection& selection) {
  return selection.calls.empty() && selection.entries.empty() && selection.exports.empty();
}

/// Reports the calls that end while a thread is stopped.
class EndReporter final : public CallEnds {
 public:
  /// `moment`: null if no call can return now.
  EndReporter(Placement& placement, ptrace::EventSink& sink, ptrace::Tracee& tracee, const Moment* moment)
      : placement_(placement), sink_(sink), tracee_(tracee), moment_(moment) {}

  void end(const OpenCall& call, How how) override {
    if (call.is_reported) {
      report_end(call, how, [this](const trace::LibraryExit& exit) {
        moment_ != nullptr ? report(sink_, tracee_, *moment_, exit) : report(sink_, tracee_, exit);
      });
    }
    if (call.resolved != nullptr && how == How::returned) {
      const std::uint64_t chosen = arch::function_result(moment_->registers)[0];
      if (moment_->past != nullptr) {
        thread_state(tracee_)->chosen.push_back({chosen, call.resolved});
      } else {
        placement_.place_chosen(tracee_, chosen, *call.resolved);
      }
    }
  }
  void end_in(pid_t thread, const OpenCall& call, How how) override {
    report_end(call, how, [&](const trace::LibraryExit& exit) { sink_.emit_for(thread, tracee_, exit); });
  }

 private:
  template <typename Emit>
  void report_end(const OpenCall& call, How how, Emit emit) {
    trace::LibraryExit exit;
    exit.function = call.function;
    exit.call = call.number;
    exit.how = how;
    if (how != How::returned && how != How::again) {
      emit(exit);
      return;
    }
    exit.integers = arch::function_result(moment_->registers);
    exit.context = &moment_->context;
    emit(exit);
  }

  Placement& placement_;
  ptrace::EventSink& sink_;
  ptrace::Tracee& tracee_;
  const Moment* moment_;
};

/// A thread that is stopped, with these registers.
class StoppedMoment {
 public:
  StoppedMoment(const ptrace::Tracee& tracee, const arch::Registers& registers)
      : context_(tracee, registers), moment_{registers, tracee.memory, context_} {}
  [[nodiscard]] const Moment& get() const { return moment_; }
  [[nodiscard]] arch::ReadRegisterSet register_sets() const { return context_.register_sets(); }

 private:
  StoppedContext context_;
  Moment moment_;
};

}  // namespace

FunctionTracer::FunctionTracer(Options options, ptrace::EventSink& sink)
    : options_(std::move(options)),
      sink_(sink),
      functions_(options_.selection.demangler),
      counter_(options_.records_inside  ? Counter::Inside::records
               : options_.counts_inside ? Counter::Inside::counts
                                        : Counter::Inside::nothing,
               options_.counter, options_.recorder, only_probes(options_.selection), functions_, sink),
      placement_(options_.selection, options_.one_by_one, functions_, counter_, sink) {}

// ---------------------------------------------------------------------------------------------- threads and processes

void FunctionTracer::join(ptrace::Tracee& tracee) {
  const auto known = spaces_.find(tracee.tgid);
  if (tracee.functions == nullptr && known != spaces_.end() && !known->second.expired()) {
    auto state = std::make_unique<ThreadState>();
    state->space = known->second.lock();
    tracee.functions = std::move(state);
  }
}

void FunctionTracer::begin(ptrace::Tracee& tracee) {
  join(tracee);
  counter_.watch_inherited(tracee);
  if (tracee.functions != nullptr || refused_.contains(tracee.tgid)) {
    return;
  }
  auto state = std::make_unique<ThreadState>();
  state->space = std::make_shared<Breakpoints>();
  state->space->recording.since_exec = ptrace::stopped_thread(tracee).event() == PTRACE_EVENT_EXEC;
  state->space->filtered = tracee.filtered ? Filtered::by_us : Filtered::by_nobody;
  spaces_[tracee.tgid] = state->space;
  tracee.functions = std::move(state);
  // The others may run into breakpoints at their first stop, which may be as they are detached from.
  for (const pid_t tid : proc::threads_of(tracee.tgid)) {
    if (ptrace::Tracee* other = sink_.find(tid); other != nullptr) {
      join(*other);
    }
  }
  placement_.update(tracee);
  if (const auto registers = ptrace::stopped_thread(tracee).registers()) {
    space_of(tracee).withdrawal.call_instruction =
        find_call_instruction(ptrace::stopped_thread(tracee), registers.value().mode_abi());
  }
}

void FunctionTracer::conclude(ptrace::Tracee& tracee) {
  if (counter_.notes_places() && thread_state(tracee) != nullptr) {
    counter_.report_counts(tracee);
  }
}

std::vector<std::string> FunctionTracer::why_missed() const {
  std::vector<std::string> reasons = placement_.reasons();
  if (const std::uint64_t lost = counter_.recorder() != nullptr ? counter_.recorder()->lost() : 0; lost != 0) {
    reasons.push_back(fmt::format("{} starts or ends of calls are missing: the buffer had no room for them", lost));
  }
  return reasons;
}

void FunctionTracer::leave_program(ptrace::Tracee& tracee) {
  counter_.end(tracee);
  tracee.functions = nullptr;
  spaces_.erase(tracee.tgid);
}

void FunctionTracer::inherit(ptrace::Tracee& parent, ptrace::Tracee& child, bool shares_memory) {
  join(parent);
  const ThreadState* from = thread_state(parent);
  if (from == nullptr) {
    return;
  }
  auto state = std::make_unique<ThreadState>();
  if (shares_memory) {
    state->space = from->space;
  } else {
    state->space = std::make_shared<Breakpoints>(*from->space);
    state->space->withdrawal.is_done = false;
    if (!counter_.records_inside()) {
      state->space->recording.trampoline = 0;
    }
    state->space->goroutines.forget_calls();
  }
  if (child.tgid == parent.tgid) {
    child.functions = std::move(state);
    return;
  }
  spaces_[child.tgid] = state->space;
  state->calls.inherit(from->calls);
  child.functions = std::move(state);
  counter_.inherit(parent, child);
}

ptrace::Detachment FunctionTracer::prepare_detach(ptrace::Tracee& tracee, bool at_trap) {
  using When = ptrace::Detachment::When;
  // It may leave at its very first stop, while the other threads of its process still have their breakpoints.
  join(tracee);
  ptrace::Detachment detachment;
  if (tracee.functions == nullptr) {
    return detachment;
  }
  counter_.end(tracee);
  collect();  // nothing is recorded of the process from here on
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  Placement::withdraw(tracee);
  auto registers = thread.registers();
  if (!registers) {
    tracee.functions = nullptr;
    return detachment;
  }
  arch::Registers& set = registers.value();
  const std::uint64_t trap = arch::trap_address(set);
  const auto untaken = space.stubs.find_untaken(trap);
  if (untaken || space.find_trap(trap) != nullptr || space.stubs.has_jump_at(trap)) {
    if (at_trap && is_at_trap(thread)) {
      set.set_instruction_pointer(untaken ? untaken->jump : trap);
      static_cast<void>(thread.set_registers(set));
      detachment.was_at_trap = true;
    } else if (has_signal(tracee.tid(), "SigPnd", SIGTRAP) && !thread.blocks(SIGTRAP)) {
      // A breakpoint's trap is never blocked; the program's own would be waited for in vain.
      detachment.when = When::after_trap;
      return detachment;
    }
  }
  // This may be the kernel's, and would stop the thread for good when we are gone.
  if (counter_.recorder() != nullptr && has_signal(tracee.tid(), "SigPnd", SIGSTOP)) {
    detachment.when = When::after_trap;
    return detachment;
  }
  put_back(tracee);
  // The last thread takes the pages away, unless it is about to end.
  if (const int event = thread.event(); thread_state(tracee)->space.use_count() == 1 && space.has_pages() &&
                                        !space.stubs.have_to_stay() && event != PTRACE_EVENT_EXIT) {
    if (event != PTRACE_EVENT_STOP) {
      detachment.when = When::at_rest;
      return detachment;
    }
    if (!space.unmap(thread)) {
      detachment.when = When::after_stop;
      return detachment;
    }
  }
  tracee.functions = nullptr;
  return detachment;
}

void FunctionTracer::put_back(ptrace::Tracee& tracee) {
  ThreadState* state = thread_state(tracee);
  if (state == nullptr) {
    return;
  }
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  auto registers = thread.registers();
  if (!registers) {
    return;
  }
  if (state->space->stubs.lead_out(registers.value(), tracee.memory)) {
    static_cast<void>(thread.set_registers(registers.value()));
  }
  if (const auto place = state->space->undisplaced(registers.value().instruction_pointer())) {
    state->expect_again({*place, registers.value().stack_pointer()});
    registers.value().set_instruction_pointer(*place);
    static_cast<void>(thread.set_registers(registers.value()));
  }
}

bool FunctionTracer::on_fault(ptrace::Tracee& tracee) {
  siginfo_t info;
  if (tracee.functions == nullptr || !ptrace::stopped_thread(tracee).signal_info(info) || info.si_code <= 0) {
    return false;
  }
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  auto registers = ptrace::stopped_thread(tracee).registers();
  if (registers) {
    const std::uint64_t instruction = registers.value().instruction_pointer();
    if (const auto back = Counter::give_up_stub(tracee, instruction, address)) {
      space_of(tracee).stubs.lead_out(registers.value(), tracee.memory);
      registers.value().set_instruction_pointer(*back);
      return ptrace::stopped_thread(tracee).set_registers(registers.value()).ok();
    }
  }
  if (!registers || registers.value().instruction_pointer() != address || !space_of(tracee).lose_page(address)) {
    return false;
  }
  put_back(tracee);
  return true;
}

void FunctionTracer::end_calls(ptrace::Tracee& tracee) {
  ThreadState* state = thread_state(tracee);
  if (state == nullptr) {
    return;
  }
  EndReporter ends(placement_, sink_, tracee, nullptr);
  state->calls.lose_all(ends);
  state->space->goroutines.lose_calls_of(tracee.tid(), ends);
}

// ---------------------------------------------------------------------------------------------- traps

bool FunctionTracer::on_trap(ptrace::Tracee& tracee) {
  ThreadState* state = thread_state(tracee);
  if (state == nullptr) {
    return false;
  }
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  if (!is_at_trap(thread)) {
    return false;
  }
  auto got = thread.registers();
  if (!got) {
    return true;
  }
  const arch::Registers& at_trap = got.value();
  arch::Registers registers = at_trap;
  const std::uint64_t address = arch::trap_address(registers);
  const std::shared_ptr<Breakpoints> space = state->space;
  const Breakpoint* point = space->find_trap(address);
  if ((point == nullptr || !point->inserted) && space->stubs.has_jump_at(address)) {
    space->stubs.mend(thread, address, others_of(tracee));
    registers.set_instruction_pointer(address);
    static_cast<void>(thread.set_registers(registers, at_trap));
    return true;
  }
  if (const auto untaken = space->stubs.find_untaken(address)) {
    on_untaken(tracee, *untaken, registers, at_trap);
    return true;
  }
  if (point == nullptr &&
      (has_signal(tracee.tid(), "SigCgt", SIGTRAP) || !space->mend_copy(thread, tracee.memory, address))) {
    return false;  // a trap of its own
  }
  registers.set_instruction_pointer(address);
  if (point == nullptr || !point->inserted) {
    // It ran into the breakpoint before that was removed, or has it from before a fork, or in a copy.
    space->remove(thread, address);
    static_cast<void>(thread.set_registers(registers, at_trap));
    return true;
  }
  if (!state->comes_again({address, registers.stack_pointer()})) {
    tracee.without_trap = &registers;
    on_breakpoint(tracee, registers, address);
    tracee.without_trap = nullptr;
  }
  pass(tracee, address, registers, at_trap);
  return true;
}

void FunctionTracer::pass(ptrace::Tracee& tracee, std::uint64_t address, arch::Registers registers,
                          const arch::Registers& at_trap) {
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  const std::shared_ptr<Breakpoints> space = thread_state(tracee)->space;
  // If the engine is about to detach from it, prepare_detach() does the rest.
  const bool passed = tracee.detaching || space->withdrawal.is_done ||
                      space->pass(thread, tracee.memory, tracee.tid(), address, registers);
  static_cast<void>(thread.set_registers(registers, at_trap));
  if (passed || placement_.withdraw_if_hidden(tracee, address)) {
    return;
  }
  space->remove(thread, address);
  const Status stepped = thread.step();
  space->put_again(thread, address);
  if (!stepped) {
    thread_state(tracee)->expect_again({address, registers.stack_pointer()});
    if (stepped.error().number != EINTR) {
      ptrace::Running running = std::get<ptrace::Stopped>(std::move(tracee.thread)).went_on();
      tracee.thread = std::move(running);
    }
  }
}

void FunctionTracer::on_breakpoint(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address) {
  Breakpoints& space = space_of(tracee);
  for (const ThreadState::Chosen& chosen : std::exchange(thread_state(tracee)->chosen, {})) {
    placement_.place_chosen(tracee, chosen.address, *chosen.function);
  }
  Breakpoint* point = space.find(address);
  if (point->is_loader_hook || point->is_program_entry) {
    placement_.update(tracee);
    point = space.find(address);  // it may have been in a module that is gone
  }
  if (point != nullptr && point->returns_here) {
    come_back(tracee, registers, address);
  }
  if (point != nullptr && (point->makes_room || point->preempts)) {
    expect_restart(tracee, *point, registers);
  }
  const StoppedMoment moment(tracee, registers);
  if (point != nullptr && point->is_landing) {
    EndReporter ends(placement_, sink_, tracee, &moment.get());
    // A call may have left the stack pointer where it was.
    thread_state(tracee)->calls.drop_unwound(registers.stack_pointer() + 1, ends);
  }
  if (point != nullptr && point->walks_stack && counter_.replaces_returns()) {
    restore_stack(tracee, registers.mode_abi());
  }
  if (point != nullptr && (point->unwinds || point->jumps)) {
    expect_landing(tracee, *point, registers);
  }
  if (point != nullptr && !point->probes.empty()) {
    report_probe_hits(sink_, tracee, *point, address, moment.get(), moment.register_sets());
  }
  if (point != nullptr && point->is_for_calls()) {
    enter(tracee, *point, address, moment.get());
  }
}

void FunctionTracer::come_back(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address) {
  ThreadState& state = *thread_state(tracee);
  const StoppedMoment moment(tracee, registers);
  EndReporter ends(placement_, sink_, tracee, &moment.get());
  const Abi abi = registers.mode_abi();
  const auto goroutine = state.space->goroutines.find(registers, tracee.memory);
  if (!goroutine || !GoroutineStacks::come_back(*goroutine, address, abi, registers.stack_pointer(), ends)) {
    state.calls.come_back(address, abi, registers.stack_pointer(), ends);
  }
}

void FunctionTracer::expect_restart(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers) {
  Breakpoints& space = space_of(tracee);
  const auto place = space.goroutines.find(registers, tracee.memory);
  const auto entry = arch::function_entry(registers, tracee.memory);
  const library::Module* module = entry ? space.module_at(entry->return_address) : nullptr;
  if (place && module != nullptr) {
    GoroutineStacks::expect_restart(*place, *module, entry->return_address, point.makes_room);
  }
}

void FunctionTracer::enter(ptrace::Tracee& tracee, Breakpoint& point, std::uint64_t address, const Moment& moment) {
  Breakpoints& space = space_of(tracee);
  const arch::Registers& registers = moment.registers;
  auto entry = arch::function_entry(registers, moment.memory);
  if (!entry) {
    placement_.withdraw_if_hidden(tracee, address);
    return;
  }
  CallStack& calls = thread_state(tracee)->calls;
  if (counter_.replaces_returns() && space.module_at(entry->return_address) == nullptr) {
    // If a function that jumps to this one is recorded, the kernel has put an address of its own there.
    const auto replaced = calls.return_address_at(entry->stack_pointer);
    if (replaced && entry->return_address == space.recording.find_trampoline(tracee.tid())) {
      entry->return_address = *replaced;
    }
  }
  trace::LibraryFunction* function = functions_.called_at(space, point, entry->return_address);
  if (function == nullptr) {
    return;
  }
  trace::LibraryFunction* const resolved = point.stub == nullptr ? point.resolved : nullptr;
  bool is_reported = function == point.entry || (function != resolved && function != point.unreported);
  const auto goroutine =
      resolved == nullptr && moment.past == nullptr ? space.goroutines.find(registers, moment.memory) : std::nullopt;
  if (goroutine) {
    if (!GoroutineStacks::start(*goroutine, address)) {
      return;
    }
    entry->integers = arch::goroutine_arguments(registers);
  }
  if (!options_.one_by_one && is_reported) {
    counter_.count_call(tracee, *function, point, *entry, registers.mode_abi());
    is_reported = false;
    if (resolved == nullptr) {
      return;
    }
  }
  OpenCall call{function, 0, entry->stack_pointer, entry->return_address, point.stub != nullptr, resolved, is_reported};
  EndReporter ends(placement_, sink_, tracee, &moment);
  if (goroutine) {
    GoroutineStacks::drop_unwound(*goroutine, call, ends);
  } else if (!calls.start(call, point.entry != nullptr, space.hooks.long_jumps, ends)) {
    return;
  }
  functions_.locate(space, *function);
  if (moment.past == nullptr) {
    space.add_in_code(ptrace::stopped_thread(tracee), tracee.memory, entry->return_address,
                      [](Breakpoint& there) { there.returns_here = true; });
  }
  call.number = ++calls_;
  if (goroutine) {
    GoroutineStacks::push(*goroutine, call, tracee.tid());
  } else {
    calls.push(call);
  }
  if (is_reported) {
    report_start(tracee, call, *entry, moment);
  }
}

void FunctionTracer::report_start(ptrace::Tracee& tracee, const OpenCall& call, const arch::FunctionEntry& entry,
                                  const Moment& moment) {
  trace::LibraryEnter enter;
  enter.function = call.function;
  enter.call = call.number;
  enter.integers = entry.integers;
  enter.stack_arguments = entry.stack_arguments;
  enter.result_address = entry.result_address;
  enter.stack_pointer = entry.stack_pointer;
  enter.return_address = entry.return_address;
  enter.context = &moment.context;
  tracee.abi = moment.registers.mode_abi();
  report(sink_, tracee, moment, enter);
}

// ---------------------------------------------------------------------------------------------- what is recorded

void FunctionTracer::on_recorded(const trace::FunctionRecorder::Hit& hit) {
  ptrace::Tracee* tracee = sink_.find(hit.tid);
  ThreadState* state = tracee != nullptr ? thread_state(*tracee) : nullptr;
  Breakpoint* point = state != nullptr ? state->space->find(hit.address) : nullptr;
  if (point == nullptr || !point->counted) {
    return;
  }
  arch::Registers registers;
  const auto into = registers.buffer();
  std::copy_n(hit.registers.begin(), std::min(hit.registers.size(), into.size()), into.begin());
  const RecordedContext context(hit.error);
  const Moment moment{registers, *hit.memory, context, &hit.time};
  if (hit.is_return) {
    if (const auto address = state->calls.return_address_at(hit.stack_pointer)) {
      EndReporter ends(placement_, sink_, *tracee, &moment);
      state->calls.come_back(*address, registers.mode_abi(), registers.stack_pointer(), ends);
    }
    return;
  }
  if (!point->probes.empty()) {
    report_probe_hits(sink_, *tracee, *point, hit.address, moment,
                      [](unsigned, std::span<std::byte>) { return std::size_t{0}; });
  }
  if (point->is_for_calls()) {
    enter(*tracee, *point, hit.address, moment);
    const auto address = hit.return_unseen ? state->calls.return_address_at(hit.stack_pointer) : std::nullopt;
    if (address) {
      trace::keep_innermost(state->unseen_returns);  // a SIGCONT takes the stop away that they wait for
      state->unseen_returns.push_back(*address);
    }
  }
}

}  // namespace tracer::functions
