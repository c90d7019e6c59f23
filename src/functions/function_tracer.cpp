#include "functions/function_tracer.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <cerrno>

#include "proc/proc_files.h"
#include "ptrace/stopped_context.h"

namespace tracer::functions {
namespace {

using library::Module;

/// Whether the set of signals that /proc/TID/status shows as `field` has this one.
bool has_signal(pid_t tid, const std::string& field, int signal) {
  return ((std::strtoull(proc::status_field(tid, field).c_str(), nullptr, 16) >> (signal - 1)) & 1) != 0;
}

bool is_for_calls(const Breakpoint& point) {
  return point.stub != nullptr || point.entry != nullptr || point.resolved != nullptr || !point.callers.empty() ||
         point.for_other_modules;
}

}  // namespace

void LibraryTracer::set_place(trace::LibraryFunction& function, const library::Module& module,
                              const library::Symbol& symbol) {
  function.defined_in = {module.path, module.inode, module.range};
  function.address = symbol.is_resolver ? 0 : symbol.address;
}

LibraryTracer::LibraryTracer(library::LibrarySelection selection, bool one_by_one,
                             std::shared_ptr<trace::FunctionCounter> counter, Emit emit, EmitFor emit_for,
                             Complain complain)
    : selection_(std::move(selection)),
      one_by_one_(one_by_one),
      counter_(std::move(counter)),
      emit_(std::move(emit)),
      emit_for_(std::move(emit_for)),
      complain_(std::move(complain)) {}

// ---------------------------------------------------------------------------------------------- whose they are

void LibraryTracer::join(ptrace::Tracee& tracee) {
  const auto known = spaces_.find(tracee.tgid);
  if (tracee.library == nullptr && known != spaces_.end() && !known->second.expired()) {
    tracee.library = std::make_unique<LibraryThread>();
    tracee.library->space = known->second.lock();
  }
}

void LibraryTracer::begin(ptrace::Tracee& tracee) {
  join(tracee);
  count_inherited(tracee);
  if (tracee.library != nullptr || refused_.contains(tracee.tgid)) {
    return;
  }
  tracee.library = std::make_unique<LibraryThread>();
  tracee.library->space = std::make_shared<Breakpoints>();
  spaces_[tracee.tgid] = tracee.library->space;
  update_modules(tracee);
}

void LibraryTracer::leave_program(ptrace::Tracee& tracee) {
  end_counts(tracee);
  tracee.library = nullptr;
  spaces_.erase(tracee.tgid);
}

void LibraryTracer::inherit(ptrace::Tracee& parent, ptrace::Tracee& child, bool shares_memory) {
  join(parent);
  if (parent.library == nullptr) {
    return;
  }
  child.library = std::make_unique<LibraryThread>();
  if (shares_memory) {
    child.library->space = parent.library->space;
  } else {
    child.library->space = std::make_shared<Breakpoints>(*parent.library->space);
    child.library->space->withdrawn = false;
    child.library->space->goroutines.clear();
  }
  if (child.tgid != parent.tgid) {
    spaces_[child.tgid] = child.library->space;
    // It returns from the same calls; which of them it shows, it is not the one that began them.
    auto& repeaters = child.library->repeaters = parent.library->repeaters;
    repeaters.insert(repeaters.end(), parent.library->calls.begin(), parent.library->calls.end());
    trace::keep_innermost(repeaters);
    inherit_counts(parent, child);
  }
}

Leaving LibraryTracer::leave(ptrace::Tracee& tracee, bool at_trap) {
  // It may leave at its very first stop, while the other threads of its process still have their breakpoints.
  join(tracee);
  Leaving leaving;
  if (tracee.library == nullptr) {
    return leaving;
  }
  end_counts(tracee);
  Breakpoints& space = *tracee.library->space;
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  if (!space.withdrawn) {
    space.withdrawn = true;
    space.remove_all(thread);
    tracee.memory.forget();
  }
  auto registers = thread.registers();
  if (!registers) {
    tracee.library = nullptr;
    return leaving;
  }
  arch::Registers& set = registers.value();
  if (space.find_trap(arch::trap_address(set)) != nullptr) {
    if (at_trap) {
      set.set_instruction_pointer(arch::trap_address(set));
      static_cast<void>(thread.set_registers(set));
      leaving.was_at_trap = true;
    } else if (has_signal(tracee.tid(), "SigPnd", SIGTRAP)) {
      leaving.when = Leaving::When::after_trap;
      return leaving;
    }
  }
  put_back(tracee);
  // The last one out takes the pages along, unless it is about to end.
  if (const int event = thread.event();
      tracee.library->space.use_count() == 1 && space.has_pages() && event != PTRACE_EVENT_EXIT) {
    if (event != PTRACE_EVENT_STOP) {
      leaving.when = Leaving::When::at_rest;
      return leaving;
    }
    if (!space.unmap(thread)) {
      leaving.when = Leaving::When::after_stop;
      return leaving;
    }
  }
  tracee.library = nullptr;
  return leaving;
}

void LibraryTracer::put_back(ptrace::Tracee& tracee) {
  if (tracee.library == nullptr) {
    return;
  }
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  auto registers = thread.registers();
  if (!registers) {
    return;
  }
  if (const auto place = tracee.library->space->undisplaced(registers.value().instruction_pointer())) {
    tracee.library->told = LibraryThread::Told{*place, registers.value().stack_pointer()};
    registers.value().set_instruction_pointer(*place);
    static_cast<void>(thread.set_registers(registers.value()));
  }
}

bool LibraryTracer::on_fault(ptrace::Tracee& tracee) {
  siginfo_t info;
  if (tracee.library == nullptr || !ptrace::stopped_thread(tracee).signal_info(info) || info.si_code <= 0) {
    return false;
  }
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  const auto registers = ptrace::stopped_thread(tracee).registers();
  if (!registers || registers.value().instruction_pointer() != address || !tracee.library->space->lose_page(address)) {
    return false;
  }
  put_back(tracee);
  return true;
}

// ---------------------------------------------------------------------------------------------- events

bool LibraryTracer::on_trap(ptrace::Tracee& tracee) {
  if (tracee.library == nullptr) {
    return false;
  }
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  siginfo_t info;
  if (!thread.signal_info(info) || (info.si_code != SI_KERNEL && info.si_code != TRAP_BRKPT)) {
    return false;
  }
  auto got = thread.registers();
  if (!got) {
    return true;
  }
  const arch::Registers& at_trap = got.value();
  arch::Registers registers = at_trap;
  const std::uint64_t address = arch::trap_address(registers);
  const std::shared_ptr<Breakpoints> space = tracee.library->space;
  const Breakpoint* point = space->find_trap(address);
  if (point == nullptr &&
      (has_signal(tracee.tid(), "SigCgt", SIGTRAP) || !space->mend_copy(thread, tracee.memory, address))) {
    return false;  // a trap of its own
  }
  registers.set_instruction_pointer(address);
  if (point == nullptr || !point->inserted) {
    // Ran into it before it was taken away, or has it from before a fork, or in a copy.
    space->remove(thread, address);
    static_cast<void>(thread.set_registers(registers, at_trap));
    return true;
  }
  const auto told = std::exchange(tracee.library->told, {});
  if (!told || told->address != address || told->stack_pointer != registers.stack_pointer()) {
    tracee.without_trap = &registers;
    tell(tracee, registers, address);
    tracee.without_trap = nullptr;
  }
  // If it is about to be let go, leave() does the rest.
  const bool passed = tracee.detaching || space->pass(thread, tracee.memory, tracee.tgid, address, registers);
  static_cast<void>(thread.set_registers(registers, at_trap));
  if (!passed) {
    space->remove(thread, address);
    const Status stepped = thread.step();
    space->put_again(thread, address);
    if (!stepped) {
      tracee.library->told = LibraryThread::Told{address, registers.stack_pointer()};
      if (stepped.error().number != EINTR) {
        tracee.thread = ptrace::Running::followed(tracee.tid());
      }
    }
  }
  return true;
}

void LibraryTracer::tell(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address) {
  Breakpoints& space = *tracee.library->space;
  Breakpoint* point = space.find(address);
  if (point->is_loader_hook || point->is_program_entry) {
    update_modules(tracee);
    point = space.find(address);  // it may have been in a module that is gone
  }
  if (point != nullptr && point->returns_here) {
    auto goroutine = goroutine_of(tracee, registers);
    if (!goroutine || !come_back(tracee, *goroutine, address, registers)) {
      come_back(tracee, address, registers);
    }
  }
  if (point != nullptr && (point->makes_room || point->preempts)) {
    expect_restart(tracee, *point, registers);
  }
  if (point != nullptr && point->is_landing) {
    drop_unwound(tracee, registers.stack_pointer() + 1);  // a call may have left the stack pointer where it was
  }
  if (point != nullptr && (point->unwinds || point->jumps)) {
    expect_landing(tracee, *point, registers);
  }
  if (point != nullptr && !point->probes.empty()) {
    hit_probes(tracee, *point, address, registers);
  }
  if (point != nullptr && is_for_calls(*point)) {
    enter(tracee, *point, address, registers);
  }
}

trace::LibraryFunction& LibraryTracer::function_of(std::string_view caller, bool of_program, std::string_view name) {
  trace::LibraryFunction*& known = by_name_[{std::string(caller), std::string(name)}];
  if (known == nullptr) {
    trace::LibraryFunction function;
    function.name = name;
    function.caller = caller;
    function.of_program = of_program;
    function.number = static_cast<std::uint32_t>(functions_.size());
    functions_.push_back(std::move(function));
    known = &functions_.back();
  }
  return *known;
}

void LibraryTracer::find_library(const ptrace::Tracee& tracee, trace::LibraryFunction& function) const {
  if (!function.label.empty()) {
    return;
  }
  for (const auto& [start, module] : tracee.library->space->modules) {
    const library::Symbol* symbol = function.library.empty() ? module.file->find_exported(function.name) : nullptr;
    if (symbol != nullptr) {
      function.library = module.name;
      function.in_program = module.is_program;
      set_place(function, module, *symbol);
    }
    if (!function.caller.empty() && module.name == function.caller) {
      function.called_from = {module.path, module.inode, module.range};
    }
  }
  const bool mangled = function.name.starts_with("_Z") || function.name.starts_with("_R");
  const std::string name = mangled && selection_.demangler
                               ? library::without_parameters(selection_.demangler(function.name))
                               : function.name;
  function.label = function.library.empty() ? name : name + '@' + function.library;
}

trace::LibraryFunction* LibraryTracer::exported_function(ptrace::Tracee& tracee, const Module& caller,
                                                         Breakpoint& point, std::uint64_t address) {
  const Module* callee = tracee.library->space->module_at(address);
  if (callee == nullptr || callee->start == caller.start) {
    return nullptr;
  }
  const auto [known, is_new] = point.called_by.try_emplace(caller.start, nullptr);
  if (is_new) {
    // Of several names for one function, the one that the caller was linked with. If it was linked with none, another
    // function has ended in a jump to this one.
    const auto& slots = caller.file->slots();
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const library::Slot& s) {
      const library::Symbol* symbol = callee->file->find_exported(s.symbol);
      return symbol != nullptr && callee->bias + symbol->address == address;
    });
    known->second = slot == slots.end() ? nullptr : &function_of(caller.name, caller.is_program, slot->symbol);
  }
  return known->second;
}

trace::LibraryFunction* LibraryTracer::entered_function(ptrace::Tracee& tracee, Breakpoint& point,
                                                        std::uint64_t address, std::uint64_t return_address) {
  if (point.stub != nullptr) {
    return point.stub;
  }
  if (point.entry != nullptr || point.resolved != nullptr) {
    return point.entry != nullptr ? point.entry : point.resolved;
  }
  const Module* caller = tracee.library->space->module_at(return_address);
  if (caller != nullptr && point.for_other_modules) {
    if (trace::LibraryFunction* function = exported_function(tracee, *caller, point, address)) {
      return function;
    }
  }
  if (caller == nullptr ||
      std::find(point.callers.begin(), point.callers.end(), caller->start) == point.callers.end()) {
    return nullptr;
  }
  return &function_of(caller->name, caller->is_program, point.entry_symbol);
}

void LibraryTracer::enter(ptrace::Tracee& tracee, Breakpoint& point, std::uint64_t address,
                          const arch::Registers& registers) {
  auto entry = arch::function_entry(registers, tracee.memory);
  if (!entry) {
    return;
  }
  trace::LibraryFunction* function = entered_function(tracee, point, address, entry->return_address);
  if (function == nullptr) {
    return;
  }
  trace::LibraryFunction* const resolved = point.entry == nullptr && point.stub == nullptr ? point.resolved : nullptr;
  auto goroutine = resolved == nullptr ? goroutine_of(tracee, registers) : std::nullopt;
  if (goroutine) {
    if (!begins(*goroutine, address)) {
      return;
    }
    entry->integers = arch::goroutine_arguments(registers);
  }
  if (!one_by_one_ && resolved == nullptr) {
    count(tracee, *function, point, *entry, registers.mode_abi());
    return;
  }
  auto& calls = tracee.library->calls;
  const bool by_stub = point.stub != nullptr;
  if (goroutine) {
    drop_unwound(tracee, *goroutine, *entry, *function);
  } else {
    drop_unwound(tracee, entry->stack_pointer);
  }
  if (!goroutine && !calls.empty() && calls.back().stack_pointer == entry->stack_pointer) {
    const LibraryFrame last = calls.back();
    if (!by_stub && last.by_stub && last.function->name == function->name &&
        last.return_address == entry->return_address && point.entry == nullptr) {
      return;  // the stub's jump has come here
    }
    if (last.return_address != entry->return_address || last.function == function) {
      calls.pop_back();
      finish(tracee, last, trace::LibraryExit::How::unwound, nullptr);
    }
  }
  find_library(tracee, *function);
  tracee.library->space->add_in_code(ptrace::stopped_thread(tracee), tracee.memory, entry->return_address,
                                     [](Breakpoint& there) { there.returns_here = true; });
  const LibraryFrame frame{function, ++calls_, entry->stack_pointer, entry->return_address, by_stub, resolved};
  if (goroutine) {
    trace::keep_innermost(goroutine->calls->calls);
    goroutine->calls->calls.push_back({frame, goroutine->used, tracee.tid()});
  } else {
    trace::keep_innermost(calls);
    calls.push_back(frame);
  }
  if (resolved != nullptr) {
    return;
  }
  trace::LibraryEnter enter;
  enter.function = function;
  enter.call = frame.call;
  enter.integers = entry->integers;
  enter.stack_arguments = entry->stack_arguments;
  enter.result_address = entry->result_address;
  enter.stack_pointer = entry->stack_pointer;
  enter.return_address = entry->return_address;
  const ptrace::StoppedContext context(tracee, registers);
  enter.context = &context;
  tracee.abi = registers.mode_abi();
  emit_(tracee, enter);
}

}  // namespace tracer::functions
