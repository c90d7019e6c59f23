// Calls of functions that are only counted: by breakpoints, or in the kernel (FunctionCounter), where nobody has to
// stop.
#include <unistd.h>

#include <algorithm>

#include "functions/function_tracer.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"

namespace tracer::functions {
namespace {

using library::Module;

std::optional<std::uint64_t> file_offset(const Module& module, std::uint64_t address) {
  const std::uint64_t inside = address - module.bias;
  for (const library::Segment& segment : module.file->segments()) {
    if (segment.executable && inside >= segment.address && inside - segment.address < segment.file_size) {
      return segment.offset + (inside - segment.address);
    }
  }
  return std::nullopt;
}

/// A path by which the kernel finds the module's file, wherever the process has it from.
std::string path_of(pid_t process, const Module& module) {
  std::string mapped = proc::proc_path(process, "map_files/" + module.range);
  return ::access(mapped.c_str(), R_OK) == 0 ? mapped : proc::proc_path(process, "root" + module.path);
}

/// Not 0.
std::uint32_t number_of(std::string_view symbol) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(symbol)) | 1U;
}

}  // namespace

trace::FunctionCounter::Place LibraryTracer::place_of(ptrace::Tracee& tracee, const Module& module,
                                                      std::uint64_t address, Breakpoint& point) const {
  trace::FunctionCounter::Place place;
  place.address = address;
  place.is_narrow = word_size(module.file->abi()) == 4;
  if (point.stub != nullptr) {
    place.is_stub = true;
    place.symbol = number_of(point.stub->name);
  } else if (point.entry == nullptr) {
    place.by_caller = true;
    place.symbol = number_of(point.entry_symbol);
  }
  if (!point.counted) {  // else it is known from the process that this is a copy of
    std::array<std::byte, 2 * arch::max_instruction_size> code{};
    const std::size_t size = tracee.memory.read(RemoteAddr(address), code);
    const auto start = file_offset(module, address);
    const auto behind = arch::uprobe_offset(module.file->abi(), std::span(code).first(size), point.stub != nullptr);
    point.probe_offset = start && behind ? *start + *behind : 0;
  }
  place.offset = point.probe_offset;
  return place;
}

void LibraryTracer::watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  Breakpoints& space = *tracee.library->space;
  std::map<std::uint64_t, std::vector<trace::FunctionCounter::Place>> by_module;
  // The kernel looks for the process's memory by its leader's.
  const bool has_leader = !proc::status_field(tracee.tgid, "VmSize").empty();
  for (const std::uint64_t address : addresses) {
    const Module* module = space.module_at(address);
    Breakpoint& point = space.note(address);
    if (module != nullptr && has_leader) {
      const trace::FunctionCounter::Place place = place_of(tracee, *module, address, point);
      if (place.offset != 0) {
        by_module[module->start].push_back(place);
      }
    }
    point.counted = false;
  }
  for (auto& [start, places] : by_module) {
    counter_->watch(tracee.tgid, path_of(tracee.tgid, space.modules.at(start)), places);
    for (const trace::FunctionCounter::Place& place : places) {
      space.note(place.address).counted = place.counts;
    }
  }
  for (const std::uint64_t address : addresses) {
    if (!space.note(address).counted) {
      space.add(ptrace::stopped_thread(tracee), tracee.memory, address, [](Breakpoint&) {});
    }
  }
}

void LibraryTracer::count_noted(ptrace::Tracee& tracee) {
  Breakpoints& space = *tracee.library->space;
  std::vector<std::uint64_t> addresses = std::exchange(space.noted, {});
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  // Where a thread has to stop for something else, that breakpoint counts as well.
  std::erase_if(addresses, [&](std::uint64_t address) { return space.note(address).inserted; });
  if (!addresses.empty()) {
    watch(tracee, addresses);
  }
}

/// The child has yet to stop; it has not run.
void LibraryTracer::inherit_counts(const ptrace::Tracee& parent, ptrace::Tracee& child) {
  const bool shares_memory = child.library->space == parent.library->space;
  if (counter_ == nullptr || !child.visible() || (shares_memory && counter_->share(child.tgid, parent.tgid))) {
    return;
  }
  for (const auto& [address, point] : child.library->space->records()) {
    if (point.counted) {
      child.library->inherited.push_back(address);
    }
  }
}

void LibraryTracer::count_inherited(ptrace::Tracee& tracee) {
  if (tracee.library == nullptr || tracee.library->inherited.empty()) {
    return;
  }
  const std::vector<std::uint64_t> addresses = std::exchange(tracee.library->inherited, {});
  if (!tracee.library->space->withdrawn) {
    watch(tracee, addresses);
  }
}

void LibraryTracer::tell_counts(ptrace::Tracee& tracee) {
  if (counter_ == nullptr) {
    return;
  }
  std::map<trace::LibraryFunction*, std::uint64_t> calls;
  std::map<trace::LibraryFunction*, Abi> abis;
  for (const trace::FunctionCounter::Count& count : counter_->take(tracee.tgid)) {
    Breakpoint* point = tracee.library->space->find(count.address);
    trace::LibraryFunction* function =
        point == nullptr ? nullptr : entered_function(tracee, *point, count.address, count.return_address);
    if (function != nullptr) {
      calls[function] += count.calls;
      const Module* module = tracee.library->space->module_at(count.address);
      abis[function] = module != nullptr ? module->file->abi() : tracee.abi;
    }
  }
  for (const auto& [function, count] : calls) {
    find_library(tracee, *function);
    tracee.abi = abis[function];
    emit_(tracee, trace::LibraryCalls{function, count});
  }
}

void LibraryTracer::end_counts(ptrace::Tracee& tracee) {
  if (counter_ == nullptr || tracee.library == nullptr) {
    return;
  }
  // Another process that shares its memory goes on with the same records.
  tell_counts(tracee);
  counter_->forget(tracee.tgid, 0, ~std::uint64_t{0});
}

void LibraryTracer::count(ptrace::Tracee& tracee, trace::LibraryFunction& function, const Breakpoint& point,
                          const arch::FunctionEntry& entry, Abi abi) {
  const auto stub = std::exchange(tracee.library->stub, {});
  if (point.stub != nullptr) {
    tracee.library->stub = {&function, entry.stack_pointer, entry.return_address};
  } else if (point.entry == nullptr && stub.function != nullptr && stub.stack_pointer == entry.stack_pointer &&
             stub.return_address == entry.return_address && stub.function->name == function.name) {
    return;  // the stub's jump has come here
  }
  find_library(tracee, function);
  tracee.abi = abi;
  emit_(tracee, trace::LibraryCalls{&function, 1});
}

}  // namespace tracer::functions
