// The part of CallRecording for calls of functions.
#include <algorithm>
#include <array>

#include "arch/call_site.h"
#include "arch/counting_stub.h"
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

arch::FunctionRegisters function_registers_in(const ThreadArea& area) {
  arch::FunctionRegisters result;
  result.call.general = {area.rdi, area.rsi, area.rdx, area.r10, area.r8,  area.r9,
                         area.rbx, area.rbp, area.r12, area.r13, area.r14, area.r15};
  result.result = area.result;
  result.counter = area.rcx;
  result.scratch = area.r11;
  return result;
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
  if (!process.off && has_shadow_stack(tracee.tid())) {
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

std::optional<std::vector<std::byte>> CallRecording::describe_function(const ptrace::Tracee& tracee,
                                                                       const FunctionPlace& place) {
  const auto plan = contents_.plan_function()(*place.function, Abi::x86_64, tracee.tid());
  if (!plan || plan->words.size() > most_arguments || plan->entry.size() > operations_per_plan ||
      plan->exit.size() > operations_per_plan) {
    return std::nullopt;
  }
  FunctionInfo info{};
  info.place = place.address;
  info.slot = place.slot;
  if (place.errno_place) {
    info.has_errno = 1;
    info.errno_offset = place.errno_place->offset;
    info.errno_word = place.errno_place->word;
  }
  info.entry_count = static_cast<std::uint8_t>(plan->entry.size());
  info.exit_count = static_cast<std::uint8_t>(plan->exit.size());
  info.word_count = static_cast<std::uint8_t>(plan->words.size());
  std::copy(plan->words.begin(), plan->words.end(), info.words);
  std::vector<std::byte> bytes;
  for (const auto part : {std::as_bytes(std::span(&info, 1)), std::as_bytes(std::span(plan->entry)),
                          std::as_bytes(std::span(plan->exit))}) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

bool leave_function(ptrace::Tracee& tracee, arch::Registers registers, const Symbols& at, const ThreadArea* area,
                    const ReportReturn& report) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  const std::uint64_t here = registers.instruction_pointer();
  const std::uint64_t stack = registers.stack_pointer();
  const auto in = [&](std::uint64_t first, std::uint64_t behind) { return here >= first && here < behind; };
  const auto report_return = [&](const Return& from, const arch::FunctionRegisters& program) {
    const std::array<std::uint64_t, 2> results{program.result, program.call.general[2]};
    arch::Registers returned = arch::registers_at_return(results, from.place + word);
    if (auto hit = hit_at_return(tracee, from, returned)) {
      report(*hit);
    }
  };
  const auto stored = [&](std::uint64_t offset) {
    std::uint64_t value = 0;
    static_cast<void>(tracee.memory.read(RemoteAddr(stack + offset), std::as_writable_bytes(std::span(&value, 1))));
    return value;
  };
  arch::FunctionRegisters program = arch::function_registers(registers);
  const auto put = [&](std::uint64_t stack_pointer, std::uint64_t to) {
    arch::put_to_function(registers, program, stack_pointer, to);
    static_cast<void>(stopped.set_registers(registers));
    tracee.memory.forget();
    return true;
  };
  if (here == at.function_left || here == at.function_trapped || here == at.returned) {
    return put(stack + word, stored(0));
  }
  if (in(at.function_entry, at.function_entered) || in(at.function_missed, at.function_trapped)) {
    const std::uint64_t trap = program.scratch - (here == at.function_trapping ? 0 : trap_before_info);
    const bool has_one = here == at.function_entry || here == at.function_trap || here == at.function_trapping;
    const std::uint64_t saved = has_one ? 0 : 2 * word;
    if (in(at.function_saved, at.function_entered) || in(at.function_missed, at.function_trap)) {
      program.result = stored(0);
      program.counter = stored(word);
    }
    program.scratch = stored(saved);
    return put(stack + saved + word, trap);
  }
  const bool is_missed_return = here == at.return_missed;
  if (in(at.function_return, at.return_entered) || is_missed_return) {
    const std::uint64_t place = here == at.function_return ? stack - word : stack + 3 * word;
    if (in(at.return_saved, at.return_entered) || is_missed_return) {
      program.result = stored(0);
      program.counter = stored(word);
      program.scratch = stored(2 * word);
    }
    const auto from = find_return(tracee.memory, place);
    if (!from) {
      return false;
    }
    report_return(*from, program);
    return put(place + word, from->original);
  }
  if (area == nullptr || (area->phase != phase_function_called && area->phase != phase_function_returned)) {
    return false;
  }
  program = function_registers_in(*area);
  const std::uint64_t place = area->stack_pointer;
  const bool is_recorded = area->written != area->before_entry;
  if (area->phase == phase_function_called) {
    if (is_recorded) {
      return put(place, area->target);
    }
    if (area->original != 0) {
      const std::uint64_t original = area->original;
      static_cast<void>(stopped.write(RemoteAddr(place), std::as_bytes(std::span(&original, 1))));
    }
    return put(place, area->function - trap_before_info);
  }
  if (is_recorded) {
    return put(place + word, area->original);
  }
  const auto from = find_return(tracee.memory, place);
  if (!from) {
    return area->original != 0 && put(place + word, area->original);
  }
  report_return(*from, program);
  return put(place + word, from->original);
}

}  // namespace tracer::inprocess
