#include "functions/counter.h"

#include <fmt/core.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <cerrno>

#include "arch/syscall_abi.h"
#include "functions/probe_places.h"
#include "proc/proc_files.h"
#include "ptrace/call_recorder.h"

namespace tracer::functions {
namespace {

using library::Module;

/// Whether other modules can call what starts at `address`, or it is a stub through which this module calls.
bool is_entry(const Module& module, std::uint64_t address) {
  const auto starts = [&](const auto& each) { return module.bias + each.address == address; };
  const auto exported = module.file->exported();
  const auto stubs = module.file->stubs();
  return std::any_of(exported.begin(), exported.end(), starts) || std::any_of(stubs.begin(), stubs.end(), starts);
}

/// The kernel counts there what it counts at the start, and sooner. 0 if there is no such place.
std::size_t emulated_offset(const ptrace::Tracee& tracee, const Module& module, const Breakpoint& point,
                            std::uint64_t address) {
  constexpr std::size_t most_code = std::size_t{64} << 10;
  if (point.stub != nullptr || point.function_size > most_code) {
    return 0;
  }
  std::vector<std::byte> code(point.function_size);
  const std::size_t size = tracee.memory.read(RemoteAddr(address), code);
  const auto leads_to_entry = [&](std::int64_t distance) {
    return is_entry(module, address + static_cast<std::uint64_t>(distance));
  };
  return size == code.size() ? arch::emulated_offset(module.file->abi(), code, leads_to_entry) : 0;
}

void report_counted_probes(ptrace::EventSink& sink, ptrace::Tracee& tracee, const Breakpoint& point,
                           const trace::FunctionCounter::Count& count) {
  const Module* module = point.probes.empty() ? nullptr : space_of(tracee).module_at(count.address);
  if (module == nullptr) {
    return;
  }
  tracee.abi = module->file->abi();
  for (const Breakpoint::Probe& here : point.probes) {
    const library::StaticProbe& probe = *here.probe;
    report(sink, tracee, trace::ProbeHit{&probe.provider, &probe.name, &module->name, count.address, {}, count.calls});
  }
}

/// Not 0.
std::uint32_t number_of(std::string_view symbol) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(symbol)) | 1U;
}

}  // namespace

trace::FunctionCounter::Place Counter::place_of(ptrace::Tracee& tracee, const Module& module, std::uint64_t address) {
  const Breakpoint& point = space_of(tracee).note(address);
  trace::FunctionCounter::Place place;
  place.address = address;
  place.is_narrow = word_size(module.file->abi()) == 4;
  const auto code = watched_code(space_of(tracee), tracee.memory, address);
  const auto start = file_offset(module, address);
  if (!point.probes.empty()) {
    place.offset = start && !point.is_for_calls() && arch::can_watch_static_probe(code) ? *start : 0;
    return place;
  }
  if (point.stub != nullptr) {
    place.is_stub = true;
    place.symbol = number_of(point.stub->name);
  } else if (point.entry == nullptr) {
    place.by_caller = true;
    place.symbol = number_of(point.entry_symbol);
  }
  const auto behind = arch::uprobe_offset(module.file->abi(), code, point.stub != nullptr);
  place.offset = start && behind ? *start + std::max(*behind, emulated_offset(tracee, module, point, address)) : 0;
  return place;
}

Breakpoint& Counter::note(Breakpoints& space, std::uint64_t address) {
  Breakpoint& point = space.note(address);
  if (!point.inserted && !point.counted) {
    space.noted.push_back(address);
  }
  return point;
}

void Counter::forget(pid_t process, std::uint64_t start, std::uint64_t end) {
  if (kernel_ != nullptr) {
    kernel_->forget(process, start, end);
  }
  if (recorder_) {
    recorder_->forget(process, start, end);
  }
}

void Counter::watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  Breakpoints& space = space_of(tracee);
  const auto watched = recorder_            ? recorder_->watch(tracee, addresses)
                       : kernel_ != nullptr ? count_at(tracee, addresses)
                       : records_inside()   ? record_inside(tracee, addresses)
                                            : count_inside(tracee, addresses);
  bool misses = false;
  for (const std::uint64_t address : addresses) {
    Breakpoint& point = space.note(address);
    if (watched.contains(address)) {
      point.counted = true;
    } else if (point.counted) {
      misses = true;  // the kernel takes a breakpoint there for what watches the process that has created this one
    } else {
      space.add(ptrace::stopped_thread(tracee), tracee.memory, address, [](Breakpoint&) {});
    }
  }
  if (misses && !std::exchange(complained_, true)) {
    sink_.complain(fmt::format("calls in process {} are missing: the kernel could not take more uprobes", tracee.tgid));
  }
}

std::set<std::uint64_t> Counter::count_at(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  Breakpoints& space = space_of(tracee);
  std::set<std::uint64_t> counted;
  std::map<std::uint64_t, std::vector<trace::FunctionCounter::Place>> by_module;
  // The kernel finds the memory of a process by its leader.
  const bool has_leader = !proc::status_field(tracee.tgid, "VmSize").empty();
  for (const std::uint64_t address : addresses) {
    const Module* module = space.module_at(address);
    if (module != nullptr && has_leader) {
      const trace::FunctionCounter::Place place = place_of(tracee, *module, address);
      if (place.offset != 0) {
        by_module[module->start].push_back(place);
      }
    }
  }
  for (auto& [start, places] : by_module) {
    kernel_->watch(tracee.tgid, path_of(tracee.tgid, space.modules.at(start)), places);
    for (const trace::FunctionCounter::Place& place : places) {
      if (place.counts) {
        counted.insert(place.address);
      }
    }
  }
  return counted;
}

Others others_of(const ptrace::Tracee& tracee) {
  const bool is_alone = thread_state(tracee)->space.use_count() == 1 && proc::threads_of(tracee.tgid).size() == 1;
  return is_alone ? Others::none : Others::anywhere;
}

std::set<std::uint64_t> Counter::count_inside(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  Breakpoints& space = space_of(tracee);
  // A thread that comes to a function by a stub and one that comes by a pointer can be distinguished only if both stop.
  std::set<std::string_view> by_pointer;
  for (const auto& [address, point] : space.records()) {
    if (!point.callers.empty()) {
      by_pointer.insert(point.entry_symbol);
    }
  }
  Others others = others_of(tracee);
  const auto goes_by_pointer = [&](const trace::LibraryFunction& function) {
    return by_pointer.contains(function.name);
  };
  stop_at_stubs(tracee, goes_by_pointer, others);
  std::vector<CountingStubs::Place> places;
  for (const std::uint64_t address : addresses) {
    const Module* module = space.module_at(address);
    const Breakpoint& point = space.note(address);
    const bool only_calls = point.stub != nullptr && point.probes.empty() && !point.is_function();
    if (only_calls && module != nullptr && module->file->abi() == arch::native_abi() && !goes_by_pointer(*point.stub)) {
      places.push_back({address, watched_code(space, tracee.memory, address), point.stub});
    }
  }
  return add_stubs(tracee, places, others);
}

std::set<std::uint64_t> Counter::add_stubs(ptrace::Tracee& tracee, const std::vector<CountingStubs::Place>& places,
                                           Others others) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  if (others != Others::none && space.recording.since_exec) {
    others = Others::elsewhere;  // the loader has just mapped what is new
  }
  const auto find_room = [&](std::uint64_t address, std::size_t size) {
    const auto found = space.place_near(thread, tracee.tid(), address, size, arch::native_abi());
    return found.ok() ? found.value() : 0;
  };
  return space.stubs.add(thread, places, find_room, others, space.filtered);
}

void Counter::stop_at_stubs(ptrace::Tracee& tracee, const CountingStubs::Chooses& which, Others others) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  for (const std::uint64_t address : space.stubs.remove(thread, which, others)) {
    space.note(address).counted = false;
    space.add(thread, tracee.memory, address, [](Breakpoint&) {});
  }
}

Result<CountingStubs::Place> Counter::recording_place(ptrace::Tracee& tracee, std::uint64_t address) {
  Breakpoints& space = space_of(tracee);
  const Module* module = space.module_at(address);
  const Breakpoint& point = space.note(address);
  const bool only_calls = point.stub != nullptr && point.entry == nullptr && point.callers.empty() &&
                          point.probes.empty() && point.resolved == nullptr && point.unreported == nullptr;
  if (!only_calls || module == nullptr || module->file->abi() != arch::native_abi()) {
    return Error{ENOTSUP, "this is no entry of a linkage table alone"};
  }
  functions_.locate(space, *point.stub);
  const auto defines = [&](const auto& entry) { return entry.second.file->find_exported(point.stub->name) != nullptr; };
  if (std::count_if(space.modules.begin(), space.modules.end(), defines) != 1) {
    return Error{ENOTSUP, "not one library defines it"};
  }
  CountingStubs::Place place{address, watched_code(space, tracee.memory, address), point.stub};
  const auto jump = arch::find_slot_jump(arch::native_abi(), place.code, address);
  if (!jump) {
    return Error{ENOTSUP, "the entry of its linkage table has another form"};
  }
  auto info = sink_.recorder()->describe_function(tracee, {address, jump->slot, point.stub, errno_place_of(tracee)});
  if (!info) {
    return info.error();
  }
  place.recorder = sink_.recorder()->function_code().entry;
  place.info = std::move(info).value();
  return place;
}

std::set<std::uint64_t> Counter::record_inside(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  Breakpoints& space = space_of(tracee);
  ptrace::CallRecorder* recorder = sink_.recorder();
  const auto& debug = sink_.debug();
  const auto refuse = [&](const char* because) {
    if (debug) {
      debug(fmt::format("functions: the calls of process {} all stop at breakpoints: {}", tracee.tgid, because));
    }
    return std::set<std::uint64_t>();
  };
  if (recorder == nullptr || recorder->function_code().entry == 0) {
    return {};
  }
  if (walks_stacks(space)) {
    stop_at_stubs(
        tracee, [](const trace::LibraryFunction&) { return true; }, others_of(tracee));
    return refuse("its stacks are walked or switched where nobody sees it");
  }
  std::vector<CountingStubs::Place> places;
  for (const std::uint64_t address : addresses) {
    auto place = recording_place(tracee, address);
    if (place) {
      places.push_back(std::move(place).value());
    } else if (const Breakpoint& point = space.note(address); debug && point.stub != nullptr) {
      debug(fmt::format("functions: calls of {} at {:#x} stop at a breakpoint: {}", point.stub->name, address,
                        place.error().message));
    }
  }
  if (places.empty()) {
    return {};
  }
  if (!recorder->admit(tracee, space.withdrawal.call_instruction)) {
    return refuse("its threads cannot record now");
  }
  space.recording.trampoline = recorder->function_code().exit;
  return add_stubs(tracee, places, others_of(tracee));
}

std::optional<std::uint64_t> Counter::give_up_stub(ptrace::Tracee& tracee, std::uint64_t address, std::uint64_t fault) {
  Breakpoints& space = space_of(tracee);
  const auto lost = space.stubs.find_lost(address, fault);
  if (!lost) {
    return std::nullopt;
  }
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  space.stubs.remove_at(thread, lost->place, others_of(tracee));
  space.note(lost->place).counted = false;
  space.add(thread, tracee.memory, lost->place, [](Breakpoint&) {});
  return lost->jump;
}

void Counter::watch_noted(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  if (const auto registers = thread.registers();
      inside_ != Inside::nothing && thread.event() == PTRACE_EVENT_EXEC && registers) {
    // In execve it can make no calls for us, before the first instruction it can.
    const bool stops_again = space.add(thread, tracee.memory, registers.value().instruction_pointer(),
                                       [](Breakpoint& point) { point.is_program_entry = true; });
    if (stops_again) {
      space.recording.starts_at_entry = true;
      return;
    }
  }
  std::vector<std::uint64_t> addresses = std::exchange(space.noted, {});
  if (replaces_returns() && Recorder::is_too_early(space)) {
    const auto later = std::partition(addresses.begin(), addresses.end(), [&](std::uint64_t address) {
      const library::Module* module = space.module_at(address);
      return module == nullptr || !module->is_program || !space.note(address).probes.empty();
    });
    space.noted.assign(later, addresses.end());
    addresses.erase(later, addresses.end());
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  // Where a thread has to stop for something else, that breakpoint counts as well.
  std::erase_if(addresses, [&](std::uint64_t address) { return space.note(address).inserted; });
  if (!addresses.empty() || inside_ != Inside::nothing) {
    watch(tracee, addresses);
  }
}

void Counter::heed_modules(ptrace::Tracee& tracee) {
  if (!recorder_ || !recorder_->leave_returns(tracee)) {
    return;
  }
  Breakpoints& space = space_of(tracee);
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  for (const pid_t tid : proc::threads_of(tracee.tgid)) {
    const ptrace::Tracee* other = sink_.find(tid);
    if (other == nullptr || thread_state(*other) == nullptr) {
      continue;
    }
    for (const OpenCall& call : thread_state(*other)->calls.calls()) {
      space.add_in_code(thread, tracee.memory, call.return_address,
                        [](Breakpoint& there) { there.returns_here = true; });
    }
  }
}

void Counter::inherit(const ptrace::Tracee& parent, ptrace::Tracee& child) {
  ThreadState& state = *thread_state(child);
  const bool shares_memory = state.space == thread_state(parent)->space;
  const bool is_shared = shares_memory && kernel_ != nullptr && kernel_->share(child.tgid, parent.tgid);
  if (!in_kernel() || !child.visible() || is_shared) {
    return;
  }
  for (const auto& [address, point] : state.space->records()) {
    if (point.counted) {
      state.inherited.push_back(address);
    }
  }
}

void Counter::watch_inherited(ptrace::Tracee& tracee) {
  ThreadState* state = thread_state(tracee);
  if (state == nullptr || state->inherited.empty()) {
    return;
  }
  const std::vector<std::uint64_t> addresses = std::exchange(state->inherited, {});
  if (!space_of(tracee).withdrawal.is_done) {
    watch(tracee, addresses);
  }
}

void Counter::report_counts_inside(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  if (!tracee.visible()) {
    return;  // some other process reports what it has counted
  }
  for (const FunctionCounters::Count& count : space.stubs.take()) {
    functions_.locate(space, *count.function);
    tracee.abi = arch::native_abi();
    report(sink_, tracee, trace::LibraryCalls{count.function, count.calls});
  }
}

void Counter::report_counts(ptrace::Tracee& tracee) {
  if (kernel_ == nullptr) {
    report_counts_inside(tracee);
    return;
  }
  std::map<trace::LibraryFunction*, std::uint64_t> calls;
  std::map<trace::LibraryFunction*, Abi> abis;
  Breakpoints& space = space_of(tracee);
  for (const trace::FunctionCounter::Count& count : kernel_->take(tracee.tgid)) {
    Breakpoint* point = space.find(count.address);
    if (point != nullptr) {
      report_counted_probes(sink_, tracee, *point, count);
    }
    trace::LibraryFunction* function =
        point == nullptr ? nullptr : functions_.called_at(space, *point, count.return_address);
    if (function != nullptr) {
      calls[function] += count.calls;
      const Module* module = space.module_at(count.address);
      abis[function] = module != nullptr ? module->file->abi() : tracee.abi;
    }
  }
  for (const auto& [function, count] : calls) {
    functions_.locate(space, *function);
    tracee.abi = abis[function];
    report(sink_, tracee, trace::LibraryCalls{function, count});
  }
}

void Counter::end(ptrace::Tracee& tracee) {
  if (!notes_places() || thread_state(tracee) == nullptr) {
    return;
  }
  // Another process that shares its memory goes on with the same records.
  report_counts(tracee);
  forget(tracee.tgid, 0, ~std::uint64_t{0});
}

void Counter::count_call(ptrace::Tracee& tracee, trace::LibraryFunction& function, const Breakpoint& point,
                         const arch::FunctionEntry& entry, Abi abi) {
  ThreadState& state = *thread_state(tracee);
  const auto stub = std::exchange(state.stub, {});
  if (point.stub != nullptr) {
    state.stub = {&function, entry.stack_pointer, entry.return_address};
  } else if (point.entry == nullptr && stub.function != nullptr && stub.stack_pointer == entry.stack_pointer &&
             stub.return_address == entry.return_address && stub.function->name == function.name) {
    return;  // the stub's jump has come here
  }
  functions_.locate(*state.space, function);
  tracee.abi = abi;
  report(sink_, tracee, trace::LibraryCalls{&function, 1});
}

}  // namespace tracer::functions
