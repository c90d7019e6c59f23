#include "functions/recorder.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arch/breakpoint.h"
#include "arch/register_names.h"
#include "arch/syscall_abi.h"
#include "functions/probe_places.h"
#include "functions/stopped_context.h"
#include "proc/proc_files.h"

namespace tracer::functions {
namespace {

using library::Module;
using library::ProbeArgument;
using Place = trace::FunctionRecorder::Place;

/// The kernel records a return by putting an address of its own in the place of the return address. That harms where
/// this is read by others than the return: what goes on from there a second time, walks the stack, or moves it.
bool is_harmed_by_return_probe(std::string_view name) {
  constexpr std::array<std::string_view, 13> names = {
      "setjmp",    "sigsetjmp", "sigsetjmp1", "getcontext", "setcontext", "makecontext", "swapcontext",
      "libc_fork", "fork",      "Fork",       "vfork",      "clone",      "clone3"};
  // Names of the C library's that differ in front are those of one function.
  const std::string_view bare = name.substr(std::min(name.find_first_not_of('_'), name.size()));
  return std::find(names.begin(), names.end(), bare) != names.end() || name.starts_with("_dl_runtime_");
}

bool imports(const library::ModuleFile& file, std::string_view name) {
  const auto slots = file.slots();
  return std::any_of(slots.begin(), slots.end(), [&](const library::Slot& slot) { return slot.symbol == name; });
}

/// Whether the stacks of a process with this module are walked, or switched between, where we do not see it begin.
/// Exceptions pass through code that has tables for them, and an unwinder may be in any module, without a name. The C
/// library has tables, too, for the ends of threads, which go on where there is no way to unwind the stack.
bool walks_stacks_unseen(const library::ModuleFile& file) {
  constexpr std::string_view unwinder = "_Unwind_RaiseException";
  const bool switches = file.find_anywhere("runtime.morestack") != nullptr ||
                        file.find_anywhere("runtime.morestack.abi0") != nullptr || imports(file, "swapcontext");
  if (switches || file.find_exported("__errno_location") != nullptr) {
    return switches;
  }
  const bool has_unwinder = file.find_anywhere(unwinder) != nullptr;
  if (!arch::has_return_address_on_stack()) {
    return has_unwinder || file.has_exception_tables();
  }
  return file.has_exception_tables() && !has_unwinder && !imports(file, "_Unwind_Resume");
}

std::vector<trace::RecordedNumber> argument_numbers() {
  constexpr std::int64_t words_on_stack = 6;
  constexpr std::int64_t word = 8;
  const arch::ArgumentWords words = arch::argument_words();
  std::vector<trace::RecordedNumber> numbers;
  for (const std::uint8_t place : words.registers) {
    numbers.emplace_back().base = place;
  }
  for (std::int64_t i = 0; i < words_on_stack; ++i) {
    trace::RecordedNumber& number = numbers.emplace_back();
    number.base = words.stack_pointer;
    number.size = word;
    number.displacement = words.on_stack + i * word;
  }
  return numbers;
}

/// Empty: only a stopped thread shows it.
std::optional<trace::RecordedNumber> number_of(const ProbeArgument& argument, std::uint64_t bias) {
  trace::RecordedNumber number;
  if (argument.where == ProbeArgument::Where::unknown || argument.where == ProbeArgument::Where::constant) {
    return number;
  }
  const auto base = arch::register_word(argument.base);
  const auto index = arch::register_word(argument.index);
  if ((!argument.base.empty() && !base) || (!argument.index.empty() && !index) || !argument.segment.empty() ||
      argument.extend != ProbeArgument::Extend::none) {
    return std::nullopt;
  }
  number.base = base.value_or(number.no_register);
  if (argument.where == ProbeArgument::Where::in_memory) {
    number.index = index.value_or(number.no_register);
    number.scale = static_cast<std::uint8_t>(argument.scale);
    number.size = static_cast<std::uint8_t>(argument.size);
    number.displacement = argument.displacement + static_cast<std::int64_t>(argument.in_module ? bias : 0);
  }
  return number;
}

/// Reads for whoever interprets the code of __errno_location, and notes which word of memory its result depends on.
class NotingMemory final : public trace::Memory {
 public:
  NotingMemory(const trace::Memory& memory, std::uint64_t code) : memory_(memory), code_(code) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    constexpr std::uint64_t longest_code = 64;
    if (address.value() == 0) {  // the thread pointer, which the caller adds
      std::fill(into.begin(), into.end(), std::byte{0});
      return into.size();
    }
    if (address.value() - code_ >= longest_code) {
      word = address.value();
    }
    return memory_.read(address, into);
  }

  mutable std::uint64_t word = 0;

 private:
  const trace::Memory& memory_;
  std::uint64_t code_;
};

/// With the module that defines it, as far as that is there: it is known only then what the function takes.
const trace::LibraryFunction* function_at(FunctionTable& functions, const Breakpoints& space, const Breakpoint& point) {
  trace::LibraryFunction* function = point.stub != nullptr    ? point.stub
                                     : point.entry != nullptr ? point.entry
                                                              : functions.find_called_from(space, point);
  const auto defines = [&](const auto& module) { return module.second.file->find_exported(function->name) != nullptr; };
  if (function != nullptr &&
      (!function->library.empty() || std::any_of(space.modules.begin(), space.modules.end(), defines))) {
    functions.locate(space, *function);
  }
  return function;
}

}  // namespace

bool walks_stacks(const Breakpoints& space) {
  return std::any_of(space.modules.begin(), space.modules.end(),
                     [](const auto& entry) { return walks_stacks_unseen(*entry.second.file); });
}

std::optional<trace::ErrnoPlace> errno_place_of(const ptrace::Tracee& tracee) {
  for (const auto& [start, module] : space_of(tracee).modules) {
    const library::Symbol* symbol = module.file->find_function("__errno_location");
    if (symbol == nullptr) {
      continue;
    }
    const std::uint64_t code = module.bias + symbol->address;
    const NotingMemory memory(tracee.memory, code);
    const auto offset = arch::errno_address(module.file->abi(), code, memory, 0);
    if (!offset) {
      continue;
    }
    trace::ErrnoPlace place{static_cast<std::int64_t>(*offset), memory.word};
    if (memory.word != 0) {  // the loader may still have to write it
      std::int64_t now = 0;
      const auto into = std::as_writable_bytes(std::span(&now, 1));
      place.offset -= tracee.memory.read(RemoteAddr(memory.word), into) == into.size() ? now : 0;
    }
    return place;
  }
  return std::nullopt;
}

bool Recorder::is_too_early(const Breakpoints& space) {
  // The loader reports itself and the program, then the libraries. We may have looked before it runs, too.
  const unsigned looks_until_all_are_there = space.recording.starts_at_entry ? 4 : 3;
  const bool has_c_library = std::any_of(space.modules.begin(), space.modules.end(), [](const auto& entry) {
    return entry.second.file->find_exported("__errno_location") != nullptr;
  });
  return space.recording.since_exec && space.hooks.loader && space.recording.looks < looks_until_all_are_there &&
         !has_c_library;
}

std::optional<Place> Recorder::place_of(ptrace::Tracee& tracee, const Module& module, std::uint64_t address,
                                        const Breakpoint& point) const {
  const Abi abi = module.file->abi();
  const auto start = file_offset(module, address);
  if (abi != arch::native_abi() || !start || point.resolved != nullptr || point.unreported != nullptr) {
    return std::nullopt;
  }
  const auto code = watched_code(space_of(tracee), tracee.memory, address);
  Place place;
  place.address = address;
  place.function = function_at(functions_, space_of(tracee), point);
  if (place.function == nullptr) {
    for (const Breakpoint::Probe& probe : point.probes) {
      for (const ProbeArgument& argument : probe.probe->arguments) {
        const auto number = number_of(argument, module.bias);
        if (!number) {
          return std::nullopt;
        }
        place.numbers.push_back(*number);
      }
    }
    place.offset = *start;
    return arch::can_watch_static_probe(code) ? std::optional(place) : std::nullopt;
  }
  const auto behind = arch::uprobe_offset(abi, code, point.stub != nullptr);
  if (!behind || !point.probes.empty() || is_harmed_by_return_probe(place.function->name)) {
    return std::nullopt;
  }
  place.offset = *start + *behind;
  place.probed = address + *behind;
  place.numbers = argument_numbers();
  place.errno_place = errno_place_of(tracee);
  return place;
}

bool Recorder::leave_returns(ptrace::Tracee& tracee) {
  Breakpoints& space = space_of(tracee);
  const auto& records = space.records();
  const bool any = std::any_of(records.begin(), records.end(),
                               [](const auto& entry) { return entry.second.counted && entry.second.probes.empty(); });
  if (!any || space.recording.leaves_returns || !walks_stacks(space)) {
    return false;
  }
  space.recording.leaves_returns = true;
  kernel_->leave_returns(tracee.tgid);
  return true;
}

std::set<std::uint64_t> Recorder::watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses) {
  std::set<std::uint64_t> recorded;
  Breakpoints& space = space_of(tracee);
  // The kernel finds the memory of a process by its leader.
  if (proc::status_field(tracee.tgid, "VmSize").empty()) {
    return recorded;
  }
  std::map<std::uint64_t, std::vector<Place>> by_module;
  const bool returns_do_harm = !only_probes_ && walks_stacks(space);
  for (const std::uint64_t address : addresses) {
    const Module* module = space.module_at(address);
    const Breakpoint& point = space.note(address);
    auto place = module == nullptr ? std::nullopt : place_of(tracee, *module, address, point);
    // In a process with uprobes the kernel takes a breakpoint for one where any other process is recorded. So no probes
    // beside breakpoints for functions, and none of these where the process that has created this one is recorded.
    if (place && (!returns_do_harm || point.counted)) {
      by_module[module->start].push_back(std::move(*place));
    }
  }
  for (auto& [start, places] : by_module) {
    const Module& module = space.modules.at(start);
    kernel_->watch(tracee.tgid, module.file->abi(), path_of(tracee.tgid, module), places);
    for (const Place& place : places) {
      if (place.recorded) {
        recorded.insert(place.address);
      }
    }
  }
  if (returns_do_harm) {
    kernel_->leave_returns(tracee.tgid);
  }
  return recorded;
}

}  // namespace tracer::functions
