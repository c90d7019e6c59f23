#include "functions/placement.h"

#include <elf.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "debuginfo/separate_files.h"
#include "functions/inject.h"
#include "proc/memory_map.h"
#include "proc/proc_files.h"
#include "proc/tracee_file.h"

namespace tracer::functions {
namespace {

using library::Module;
using library::ModuleName;
using library::Symbol;

ModuleName name_of(const Module& module) {
  return {module.name, module.path, module.is_program};
}

bool has_code_at(const Module& module, std::uint64_t address) {
  return address >= module.start && address < module.end;
}

/// What the dynamic linker has set a slot of `module` to; 0 if it has not yet.
std::uint64_t target_of(const trace::Memory& memory, const Module& module, const library::Slot& slot) {
  std::uint64_t target = 0;
  const auto into = std::as_writable_bytes(std::span(&target, 1)).first(word_size(module.file->abi()));
  const bool is_set = memory.read(RemoteAddr(module.bias + slot.address), into) == into.size() &&
                      target != slot.unset && target != module.bias + slot.unset;
  return is_set ? target : 0;
}

/// Sets a breakpoint at the module's function `name`, if it has one.
template <typename Change>
bool hook(ptrace::Tracee& tracee, const Module& module, std::string_view name, Change change) {
  const Symbol* symbol = module.file->find_anywhere(name);
  if (symbol == nullptr || !has_code_at(module, module.bias + symbol->address)) {
    return false;
  }
  space_of(tracee).add(ptrace::stopped_thread(tracee), tracee.memory, module.bias + symbol->address, change);
  return true;
}

}  // namespace

std::map<std::uint64_t, Module> Placement::traceable_modules(pid_t process) {
  std::map<std::uint64_t, Module> modules;
  for (Module& module : library::modules_of(process, files_)) {
    if (arch::can_break_at_functions(module.file->abi())) {
      modules.emplace(module.start, std::move(module));
    } else if (module.is_program && !std::exchange(complained_, true)) {
      sink_.complain("the functions of " + module.path + " are not traced: not those of " +
                     std::string(abi_names[index_of(module.file->abi())]) + " programs");
    }
  }
  if (modules.empty() && proc::threads_of(::getpid()).empty() && !std::exchange(complained_, true)) {
    sink_.complain("functions are not traced: they are found by /proc/PID/maps, and /proc is not mounted here");
  }
  if (modules.empty() && proc::hides_memory_map(process)) {
    complain_of_hidden_memory(process);
  }
  return modules;
}

void Placement::complain_of_hidden_memory(pid_t process) {
  if (!std::exchange(complained_, true)) {
    sink_.complain(
        fmt::format("the functions of process {} are not traced: the kernel hides its memory from this user (see "
                    "PR_SET_DUMPABLE in prctl(2))",
                    process));
  }
}

void Placement::withdraw(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  if (!std::exchange(space.withdrawal.is_done, true)) {
    space.remove_all(thread);
    space.stubs.remove(
        thread, [](const auto&) { return true; }, others_of(tracee));
    tracee.memory.forget();
  }
}

bool Placement::withdraw_if_hidden(ptrace::Tracee& tracee, std::uint64_t address) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  const auto registers = thread.registers();
  std::byte code{};
  if (space.withdrawal.is_done || space.withdrawal.call_instruction == 0 || !registers ||
      tracee.memory.read(RemoteAddr(address), std::span(&code, 1)) == 1 || !proc::hides_memory_map(tracee.tid())) {
    return false;
  }
  // Even the trap cannot be taken away, unless the process shows its memory again for as long as that takes.
  const auto set_dumpable = [&](std::uint64_t value) {
    return inject_call_at(space.withdrawal.call_instruction, thread, space.filtered,
                          arch::prctl_number(registers.value().mode_abi()), {PR_SET_DUMPABLE, value, 0, 0, 0, 0});
  };
  if (!set_dumpable(1)) {
    return false;
  }
  withdraw(tracee);
  static_cast<void>(set_dumpable(0));
  complain_of_hidden_memory(tracee.tgid);
  return true;
}

void Placement::update(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  if (space.withdrawal.is_done) {
    return;
  }
  std::map<std::uint64_t, Module> now = traceable_modules(tracee.tid());  // the leader may have ended
  if (now.empty() && !space.modules.empty()) {
    return;  // they are hidden now, with breakpoints in them
  }
  counter_.report_counts(tracee);  // with the modules that there were until now
  const auto is_same = [](const Module& one, const Module& other) {
    return one.file == other.file && one.bias == other.bias && one.end == other.end;
  };
  for (const auto& [start, module] : space.modules) {
    const auto still = now.find(start);
    if (still == now.end() || !is_same(still->second, module)) {
      counter_.forget(tracee.tgid, module.start, module.end);
      space.forget(module.start, module.end);
    }
  }
  looked_ = looked_ || !now.empty();
  ++space.recording.looks;
  missed_.look_at(now);
  const auto before = std::exchange(space.modules, std::move(now));
  const auto is_new = [&](const Module& module) {
    const auto known = before.find(module.start);
    return known == before.end() || !is_same(known->second, module);
  };
  for (const auto& [start, module] : space.modules) {
    if (is_new(module)) {
      place(tracee, module);
    }
    for (const auto& [other_start, other] : space.modules) {
      if (!selection_.exports.empty() && (is_new(module) || is_new(other))) {
        place_export_calls(tracee, module, other);
      }
    }
  }
  place_pending(tracee);
  hook_loader(tracee);
  counter_.heed_modules(tracee);
  counter_.watch_noted(tracee);
}

template <typename Change>
bool Placement::add_watched(ptrace::Tracee& tracee, std::uint64_t address, Change change) {
  found_ = true;
  Breakpoints& space = space_of(tracee);
  if (space.records().size() >= most_breakpoints && space.find(address) == nullptr) {
    if (!std::exchange(found_too_many_, true)) {
      sink_.complain(fmt::format("process {} has more functions than can be traced: only {} of them are", tracee.tgid,
                                 most_breakpoints));
    }
    return false;
  }
  if (!counter_.notes_places()) {
    return space.add(ptrace::stopped_thread(tracee), tracee.memory, address, change);
  }
  change(Counter::note(space, address));
  return true;
}

void Placement::place_chosen(ptrace::Tracee& tracee, std::uint64_t address, trace::LibraryFunction& function) {
  add_watched(tracee, address, [&](Breakpoint& point) { point.entry = &function; });
  counter_.watch_noted(tracee);
}

void Placement::place(ptrace::Tracee& tracee, const Module& module) {
  const ModuleName name = name_of(module);
  if (!selection_.calls.empty() && selection_.calls.concerns(name)) {
    place_calls(tracee, module);
  }
  if (!selection_.entries.empty() && selection_.entries.concerns(name)) {
    place_entries(tracee, module);
  }
  if (!selection_.probes.empty()) {
    place_probes(tracee, module);
  }
  hook_jumps(tracee, module);
  hook_goroutines(tracee, module);
}

std::string_view Placement::wanted_name(const Module& module, const library::Slot& slot) const {
  const ModuleName name = name_of(module);
  std::string_view wanted = is_shown(slot) && selection_.calls.matches(slot.symbol, name) ? slot.symbol : "";
  if (!slot.is_own || !wanted.empty()) {
    return wanted;
  }
  for (const auto symbols : {module.file->exported(), module.file->all_functions()}) {
    for (const Symbol& symbol : symbols) {
      if (symbol.is_resolver && symbol.address == slot.resolver &&
          (wanted.empty() || symbol.name.size() < wanted.size()) && selection_.calls.matches(symbol.name, name)) {
        wanted = symbol.name;
      }
    }
  }
  return wanted;
}

void Placement::place_calls(ptrace::Tracee& tracee, const Module& module) {
  for (const library::Stub& stub : module.file->stubs()) {
    const library::Slot& slot = module.file->slots()[stub.slot];
    const std::uint64_t address = module.bias + stub.address;
    const std::string_view symbol = has_code_at(module, address) ? wanted_name(module, slot) : std::string_view{};
    if (!symbol.empty()) {
      trace::LibraryFunction& function = functions_.find_or_add(module.name, module.is_program, symbol);
      if (slot.is_own) {
        define(function, module, {symbol, 0, true});
      }
      add_watched(tracee, address, [&](Breakpoint& point) { point.stub = &function; });
    }
  }
  for (const library::Slot& slot : module.file->slots()) {
    if (!slot.by_stub && !wanted_name(module, slot).empty()) {
      found_ = true;
      space_of(tracee).pending.push_back({module.start, module.file, &slot});
    }
  }
}

void Placement::place_export_calls(ptrace::Tracee& tracee, const Module& caller, const Module& callee) {
  const ModuleName name = name_of(callee);
  if (!selection_.exports.concerns(name)) {
    return;
  }
  const bool is_itself = caller.start == callee.start;
  const auto is_wanted = [&](std::string_view symbol) {
    return callee.file->find_exported(symbol) != nullptr && selection_.exports.matches(symbol, name);
  };
  for (const library::Stub& stub : caller.file->stubs()) {
    const library::Slot& slot = caller.file->slots()[stub.slot];
    if (has_code_at(caller, caller.bias + stub.address) && is_shown(slot) && is_wanted(slot.symbol)) {
      trace::LibraryFunction& function = functions_.find_or_add(caller.name, caller.is_program, slot.symbol);
      add_watched(tracee, caller.bias + stub.address, [&](Breakpoint& point) { point.stub = &function; });
    }
  }
  for (const library::Slot& slot : caller.file->slots()) {
    if (!slot.by_stub && !is_itself && is_wanted(slot.symbol)) {
      found_ = true;
      space_of(tracee).pending.push_back({caller.start, caller.file, &slot});
    }
  }
}

std::shared_ptr<const library::DebugSymbols> Placement::debug_symbols_of(const ptrace::Tracee& tracee,
                                                                         const Module& module) {
  auto& known = debug_symbols_[module.file];
  if (known == nullptr) {
    std::erase_if(debug_symbols_, [](const auto& each) { return each.first.expired(); });
    debuginfo::ObjectFiles files{module.path, {}, {}, {}};
    if (module.file->all_functions().empty()) {
      files.object = proc::open_mapped(tracee.tid(), module.range, module.path, module.inode).descriptor;
    }
    // Separate files may have to come from servers, which is too much for every library that there is.
    const bool separate = module.is_program || selection_.entries.names(name_of(module));
    if (separate && files.object.valid()) {
      files = debuginfo::with_separate_files(std::move(files.object), module.path, proc::Root::of(tracee.tid()));
    }
    known = library::DebugSymbols::read(std::move(files), reader_);
  }
  return known;
}

void Placement::place_entries(ptrace::Tracee& tracee, const Module& module) {
  const auto more = debug_symbols_of(tracee, module);
  for (const auto symbols : {module.file->all_functions(), module.file->exported(), more->functions()}) {
    for (const Symbol& symbol : symbols) {
      const std::uint64_t address = module.bias + symbol.address;
      if (!has_code_at(module, address) || !selection_.entries.matches(symbol.name, name_of(module))) {
        continue;
      }
      found_ = true;
      // Nobody calls _start, and everything else would be inside its line.
      if (selection_.as_ltrace && symbol.address == module.file->entry()) {
        continue;
      }
      const Breakpoint* there = space_of(tracee).find(address);
      // A function may have several names: this takes the shortest, of these the first of the symbol table.
      if (there != nullptr && there->entry != nullptr && there->entry->name.size() <= symbol.name.size()) {
        continue;
      }
      trace::LibraryFunction& function = functions_.find_or_add_entry(module.name, symbol.name);
      define(function, module, symbol);
      if (symbol.is_resolver) {
        place_resolver(tracee, module, symbol, function);
        place_resolved(tracee, module, symbol, function);
      } else {
        add_watched(tracee, address, [&](Breakpoint& point) {
          point.entry = &function;
          point.function_size = symbol.size;
        });
      }
    }
  }
}

void Placement::place_resolver(ptrace::Tracee& tracee, const Module& module, const Symbol& symbol,
                               trace::LibraryFunction& function) {
  space_of(tracee).add(ptrace::stopped_thread(tracee), tracee.memory, module.bias + symbol.address,
                       [&](Breakpoint& point) { point.resolved = &function; });
  if (selection_.as_ltrace) {
    trace::LibraryFunction& shown = functions_.find_or_add_entry(module.name, std::string(symbol.name) + ".IFUNC");
    define(shown, module, symbol);
    shown.is_resolver = true;
    add_watched(tracee, module.bias + symbol.address, [&](Breakpoint& point) { point.entry = &shown; });
  }
}

void Placement::place_resolved(ptrace::Tracee& tracee, const Module& module, const Symbol& symbol,
                               trace::LibraryFunction& function) {
  Breakpoints& space = space_of(tracee);
  for (const auto& [start, caller] : space.modules) {
    for (const library::Slot& slot : caller.file->slots()) {
      const std::uint64_t filled = slot.symbol == symbol.name ? target_of(tracee.memory, caller, slot) : 0;
      if (filled != module.bias + symbol.address && has_code_at(module, filled)) {
        add_watched(tracee, filled, [&](Breakpoint& point) { point.entry = &function; });
      }
    }
  }
}

void Placement::place_pending(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  std::erase_if(space.pending, [&](const Breakpoints::Pending& pending) {
    const auto caller = space.modules.find(pending.module);
    return caller == space.modules.end() || caller->second.file != pending.file || place_pointer(tracee, pending);
  });
}

bool Placement::place_pointer(ptrace::Tracee& tracee, const Breakpoints::Pending& pending) {
  Breakpoints& space = space_of(tracee);
  const Module& caller = space.modules.at(pending.module);
  // The target is what the loader has written there, or else what it will write.
  const library::Slot& slot = *pending.slot;
  std::uint64_t target = target_of(tracee.memory, caller, slot);
  const Module* callee = space.module_at(target);
  if (callee == nullptr || (callee->start == caller.start && !slot.is_own)) {
    target = 0;
  }
  for (const auto& [start, module] : space.modules) {
    const Symbol* symbol =
        target == 0 && start != caller.start && !slot.is_own ? module.file->find_exported(slot.symbol) : nullptr;
    if (symbol != nullptr && !symbol->is_resolver && has_code_at(module, module.bias + symbol->address)) {
      target = module.bias + symbol->address;
    }
  }
  if (target == 0) {
    return false;
  }
  const std::string_view wanted = wanted_name(caller, slot);
  return add_watched(tracee, target, [&](Breakpoint& point) {
    point.entry_symbol = wanted.empty() ? slot.symbol : wanted;
    if (std::find(point.callers.begin(), point.callers.end(), caller.start) == point.callers.end()) {
      point.callers.push_back(caller.start);
    }
  });
}

void Placement::hook_loader(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  if (space.hooks.loader) {
    return;
  }
  const Module* program = nullptr;
  for (const auto& [start, module] : space.modules) {
    const Symbol* hook = module.file->find_exported("_dl_debug_state");
    if (hook != nullptr && has_code_at(module, module.bias + hook->address)) {
      space.hooks.loader = space.add(ptrace::stopped_thread(tracee), tracee.memory, module.bias + hook->address,
                                     [](Breakpoint& point) { point.is_loader_hook = true; }) ||
                           space.hooks.loader;
    }
    if (module.is_program) {
      program = &module;
    }
  }
  if (space.hooks.loader || program == nullptr || program->file->debug_entry() == 0) {
    return;
  }
  // The loader has no names. It gives the place itself (r_brk of its r_debug, link.h), but only once it has run.
  const unsigned word = word_size(program->file->abi());
  const auto read = [&](std::uint64_t address) {
    std::uint64_t value = 0;
    const auto into = std::as_writable_bytes(std::span(&value, 1)).first(word);
    return tracee.memory.read(RemoteAddr(address), into) == into.size() ? value : 0;
  };
  if (const std::uint64_t debug = read(program->bias + program->file->debug_entry() + word); debug != 0) {
    const std::uint64_t hook = read(debug + std::uint64_t{2} * word);
    space.hooks.loader = hook != 0 && space.add(ptrace::stopped_thread(tracee), tracee.memory, hook,
                                                [](Breakpoint& point) { point.is_loader_hook = true; });
  } else if (program->file->has_interpreter()) {
    space.add(ptrace::stopped_thread(tracee), tracee.memory, program->bias + program->file->entry(),
              [](Breakpoint& point) { point.is_program_entry = true; });
  }
}

void Placement::place_probes(ptrace::Tracee& tracee, const Module& module) {
  for (const library::StaticProbe& probe : module.file->probes()) {
    const std::uint64_t address = module.bias + probe.address;
    const bool wanted = std::any_of(selection_.probes.begin(), selection_.probes.end(),
                                    [&](const library::ProbePattern& pattern) { return pattern.matches(probe); });
    if (!wanted || address < module.start || address >= module.end) {
      continue;
    }
    Breakpoints& space = space_of(tracee);
    const bool placed = add_watched(tracee, address, [&](Breakpoint& point) {
      point.probes.push_back({module.file, &probe});
    });
    if (placed && probe.semaphore != 0) {
      space.raise_semaphore(ptrace::stopped_thread(tracee), tracee.memory, module.bias + probe.semaphore);
    }
  }
}

void Placement::hook_jumps(ptrace::Tracee& tracee, const Module& module) {
  if (!one_by_one_ || (selection_.calls.empty() && selection_.entries.empty() && selection_.exports.empty())) {
    return;
  }
  hook(tracee, module, "_Unwind_SetIP", [](Breakpoint& point) { point.unwinds = true; });
  if (counter_.replaces_returns()) {
    for (const std::string_view name : {"_Unwind_RaiseException", "_Unwind_ForcedUnwind", "_Unwind_Resume",
                                        "_Unwind_Resume_or_Rethrow", "_Unwind_Backtrace"}) {
      hook(tracee, module, name, [](Breakpoint& point) { point.walks_stack = true; });
    }
  }
  hook(tracee, module, "swapcontext",
       [&](Breakpoint& point) { point.unreported = &functions_.find_or_add_entry(module.name, "swapcontext"); });
  for (const std::string_view name : {"longjmp", "__longjmp_chk"}) {
    const bool is_there = hook(tracee, module, name, [](Breakpoint& point) { point.jumps = true; });
    space_of(tracee).hooks.long_jumps |= is_there;
  }
}

void Placement::hook_goroutines(ptrace::Tracee& tracee, const Module& module) {
  if (counter_.counts_in_kernel()) {
    return;
  }
  bool is_go = false;
  for (const std::string_view name : {"runtime.morestack", "runtime.morestack.abi0"}) {
    is_go = hook(tracee, module, name, [](Breakpoint& point) { point.makes_room = true; }) || is_go;
  }
  for (const std::string_view name : {"runtime.asyncPreempt", "runtime.asyncPreempt.abi0"}) {
    is_go = hook(tracee, module, name, [](Breakpoint& point) { point.preempts = true; }) || is_go;
  }
  if (is_go) {
    space_of(tracee).goroutines.expect_goroutines();
  }
}

}  // namespace tracer::functions
