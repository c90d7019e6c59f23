// The part of CallRecording for calls of functions.
#include <algorithm>
#include <array>
#include <cerrno>

#include "arch/call_site.h"
#include "arch/counting_stub.h"
#include "arch/syscall_abi.h"
#include "inprocess/call_recording.h"
#include "inprocess/recorded_functions.h"
#include "inprocess/recorded_memory.h"
#include "proc/proc_files.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {
namespace {

static_assert(arch::recording_stub_info - arch::recording_stub_trap == trap_before_info);

constexpr std::uint64_t word = 8;

/// The entry of the table for a return address at `place`.
std::optional<Return> find_return(const trace::Memory& memory, std::uint64_t place) {
  std::array<Return, returns_per_bucket> entries{};
  const auto into = std::as_writable_bytes(std::span(entries));
  const std::uint64_t bucket = returns_address + return_bucket(place) * into.size();
  if (memory.read(RemoteAddr(bucket), into) != into.size()) {
    return std::nullopt;
  }
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Return& entry) { return entry.place == place; });
  return found != entries.end() ? std::optional(*found) : std::nullopt;
}

/// Whether the processor keeps return addresses of the thread a second time, and so knows of those that are replaced.
bool has_shadow_stack(pid_t tid) {
  return proc::status_field(tid, "x86_Thread_features").find("shstk") != std::string::npos;
}

/// What there is to report of a return that the thread has not recorded itself; it lives as long as `registers`.
std::optional<trace::FunctionRecorder::Hit> hit_at_return(const ptrace::Tracee& tracee, const Return& from,
                                                          arch::Registers& registers) {
  FunctionInfo info{};
  const auto into = std::as_writable_bytes(std::span(&info, 1));
  if (tracee.memory.read(RemoteAddr(from.function), into) != into.size()) {
    return std::nullopt;
  }
  trace::FunctionRecorder::Hit hit;
  hit.tid = tracee.tid();
  hit.address = info.place;
  hit.is_return = true;
  hit.stack_pointer = from.place;
  hit.registers = registers.buffer();
  hit.memory = &tracee.memory;
  return hit;
}

}  // namespace

ptrace::CallRecorder::FunctionCode CallRecording::function_code() const {
  const bool records = contents_.plan_function() && stops_by_ == StopsBy::filter;
  return {records ? contents_.symbols().function_entry : 0, contents_.symbols().function_return};
}

bool CallRecording::admit(ptrace::Tracee& tracee, std::uint64_t instruction) {
  Process& process = process_of(tracee);
  if (function_code().entry == 0 || process.off || tracee.detaching || instruction == 0 || is_contested(tracee.tid())) {
    return false;
  }
  if (Thread* thread = find(tracee.tid()); thread != nullptr) {
    ThreadArea& area = thread->ring.area();
    return area.off == 0 && area.held == 0 && std::exchange(area.refuses, 0) == 0;
  }
  if (has_shadow_stack(tracee.tid())) {
    process.off = true;
    say_off(tracee.tgid, "the processor keeps its return addresses on a shadow stack");
    return false;
  }
  if (!set_up(process, tracee, instruction)) {
    return false;
  }
  if (find(tracee.tid()) == nullptr) {
    enroll(process, tracee);
  }
  return find(tracee.tid()) != nullptr;
}

Result<std::vector<std::byte>> CallRecording::describe_function(const ptrace::Tracee& tracee,
                                                                const FunctionPlace& place) {
  const auto plan = contents_.plan_function()(*place.function, arch::native_abi(), tracee.tid());
  if (!plan) {
    return plan.error();
  }
  const capture::FunctionPlan& parts = plan.value();
  if (parts.words.size() > most_arguments || parts.entry.size() > operations_per_plan ||
      parts.exit.size() > operations_per_plan) {
    return Error{ENOTSUP, "it takes too many arguments"};
  }
  FunctionInfo info{};
  info.place = place.address;
  info.slot = place.slot;
  if (place.errno_place) {
    info.has_errno = 1;
    info.errno_offset = place.errno_place->offset;
    info.errno_word = place.errno_place->word;
  }
  info.entry_count = static_cast<std::uint8_t>(parts.entry.size());
  info.exit_count = static_cast<std::uint8_t>(parts.exit.size());
  info.word_count = static_cast<std::uint8_t>(parts.words.size());
  std::copy(parts.words.begin(), parts.words.end(), info.words);
  std::vector<std::byte> bytes;
  for (const auto part : {std::as_bytes(std::span(&info, 1)), std::as_bytes(std::span(parts.entry)),
                          std::as_bytes(std::span(parts.exit))}) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

bool leave_function(ptrace::Tracee& tracee, arch::Registers registers, const Symbols& symbols, const ThreadArea* area,
                    const ReportReturn& report) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  const auto go_on = [&] {
    static_cast<void>(stopped.set_registers(registers));
    tracee.memory.forget();
    return true;
  };
  const auto put = [&](std::uint64_t stack_pointer, std::uint64_t to) {
    arch::CallRegisters program = area->program;
    program.stack_pointer = stack_pointer;
    arch::put_to_function(registers, program, area->scratch, area->result, to);
  };
  const auto go_on_behind = [&](const Return& from) {
    registers.set_instruction_pointer(from.original);
    if (auto hit = hit_at_return(tracee, from, registers)) {
      report(*hit);
    }
    return go_on();
  };
  const arch::FunctionEntries entries{symbols.function_entry, symbols.function_return};
  switch (arch::leave_function_entry(registers, entries, symbols.function_labels, tracee.memory)) {
    case arch::FunctionStep::left:
      return go_on();
    case arch::FunctionStep::returned: {
      const auto from = find_return(tracee.memory, registers.stack_pointer() - word);
      return from && go_on_behind(*from);
    }
    case arch::FunctionStep::elsewhere:
      break;
  }
  if (area == nullptr || (area->phase != phase_function_called && area->phase != phase_function_returned)) {
    return false;
  }
  const std::uint64_t place = area->program.stack_pointer;
  const bool is_recorded = area->written != area->before_entry;
  if (area->phase == phase_function_called) {
    if (!is_recorded && area->original != 0) {
      const std::uint64_t original = area->original;
      static_cast<void>(stopped.write(RemoteAddr(place), std::as_bytes(std::span(&original, 1))));
    }
    put(place, is_recorded ? area->target : area->function - trap_before_info);
    return go_on();
  }
  if (is_recorded) {
    put(place + word, area->original);
    return go_on();
  }
  const auto from = find_return(tracee.memory, place);
  put(place + word, 0);
  return from && go_on_behind(*from);
}

}  // namespace tracer::inprocess
