// The recorder: code that runs inside the tracees, at an address of its own, without a library, and without any
// register but the general ones. A call site's stub jumps to `entry` (in the directory of the processor), which makes
// the call and records it.
//
// It leaves nothing behind in the program: on its stack it uses a few bytes below the red zone, as a signal would. What
// it must not do, or has no room for, it leaves to the program's own call instruction, which stops for the tracer.
#include <algorithm>
#include <span>

#include "arch/arch.h"
#include "arch/call_registers.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/output.h"

namespace tracer::inprocess::recorder {
namespace {

extern "C" {
std::uint32_t record_entry(ThreadArea* thread);
void record_exit(ThreadArea* thread);
}

static_assert(sizeof(ThreadArea) <= area_head_size);

using Arguments = std::span<const std::uint64_t, most_arguments>;

Arguments arguments_of(const ThreadArea& thread) {
  return std::span(thread.program.general).first<most_arguments>();
}

/// Whether one of Tables::conditions is met.
bool has_to_stop(std::uint64_t number, Arguments arguments) {
  const auto& conditions = tables().conditions;
  return std::any_of(std::begin(conditions), std::end(conditions),
                     [&](const StopCondition& condition) { return condition.is_met(number, arguments); });
}

const capture_plan& plan_of(std::uint64_t number, Arguments arguments) {
  const Tables& t = tables();
  const capture_plan& plan = t.by_number[number];
  if (plan.chooser < most_arguments) {
    const auto* operations = reinterpret_cast<const capture_operation*>(&t + 1);
    const auto* forms = reinterpret_cast<const form_plan*>(operations + t.operation_count);
    const auto slot = static_cast<std::uint32_t>(t.first_slot + number);
    const auto value = static_cast<std::uint32_t>(arguments[plan.chooser]) & plan.chooser_bits;
    for (std::uint32_t step = 0; step < most_form_steps; ++step) {
      const form_plan& form = forms[(place_of_form(slot, value) + step) & t.form_mask];
      if (form.slot == slot + 1 && form.value == value) {
        return form.plan;
      }
    }
  }
  return plan;
}

const capture_operation* all_operations() {
  return reinterpret_cast<const capture_operation*>(&tables() + 1);
}

constexpr std::uint64_t records_of_call = 2;

/// Whether the recorder makes the call. The rest of the entry is on the way then.
std::uint32_t record_entry(ThreadArea* area) {
  ThreadArea& thread = *area;
  const std::uint64_t number = thread.result;
  const Tables& t = tables();
  thread.target = thread.program.behind_call - arch::Registers::call_instruction_size;
  if (number >= numbers_per_abi || !can_record(thread, records_of_call)) {
    return 0;
  }
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  if ((t.conditional[number / 64] & bit) != 0 && has_to_stop(number, arguments_of(thread))) {
    return 0;
  }
  if ((t.recorded[number / 64] & bit) == 0) {
    const bool counts = (t.counted[number / 64] & bit) != 0;
    if (!counts && (t.unrecorded[number / 64] & bit) == 0) {
      return 0;
    }
    thread.making = counts ? making_counted : making_silent;
    thread.number = number;
    thread.before_entry = thread.written;
    thread.is_counted = 0;
    if (counts) {
      thread.has_counted[number / 64] |= bit;
      thread.started = t.times != 0 ? arch::clock_ticks() : 0;
    }
    __atomic_store_n(&thread.phase, std::uint32_t{phase_calling}, __ATOMIC_RELEASE);
    return 1;
  }
  thread.making = making_recorded;
  const auto arguments = arguments_of(thread);
  const capture_plan& plan = plan_of(number, arguments);
  if (((plan.named_at_entry | plan.named_at_exit) & t.stopped) != 0) {
    return 0;
  }
  EnterRecord record;
  record.head = {0, record_enter, arch::clock_ticks(), thread.program.behind_call};
  record.number = number;
  std::copy(arguments.begin(), arguments.end(), record.args);
  record.stack_pointer = thread.program.stack_pointer;
  Output output(thread, record);
  capture_memory(thread, {all_operations() + plan.entry_first, plan.entry_count}, arguments, 0, output);
  // The tracer finds such names where the thread stops.
  if (output.lacks_names() || ((plan.named_at_exit & 1U << named_descriptor) != 0 && !output.can_name())) {
    return 0;
  }
  if ((t.names & names_commands) != 0) {
    output.command();
  }
  if (t.stack_bytes != 0 && !output.stack(OwnMemory(thread), number, t.stack_bytes)) {
    return 0;
  }
  const std::uint64_t end = output.complete();
  thread.number = number;
  thread.before_entry = thread.written;
  __atomic_store_n(&thread.phase, std::uint32_t{phase_calling}, __ATOMIC_RELEASE);
  commit(thread, end);
  return 1;
}

/// A signal may lead the thread out of here after any instruction. Then the tracer counts the call, or gives the
/// counter once more the value that it has been promised.
void count(ThreadArea& thread) {
  Counter& counter = reinterpret_cast<Area*>(&thread)->counters[thread.number % numbers_per_abi];
  const std::uint64_t taken = tables().times != 0 ? arch::clock_ticks() - thread.started : 0;
  thread.counted = with_call(counter, is_error(static_cast<std::int64_t>(thread.result)), taken);
  __atomic_store_n(&thread.is_counted, std::uint64_t{1}, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  counter = thread.counted;
}

/// The call is made: the rest of it.
void record_exit(ThreadArea* area) {
  ThreadArea& thread = *area;
  if (thread.making != making_recorded) {
    if (thread.making == making_counted) {
      count(thread);
    }
    thread.target = thread.program.behind_call;
    return;
  }
  const std::uint64_t at = arch::clock_ticks();
  const auto result = static_cast<std::int64_t>(thread.result);
  const ExitRecord record{{0, record_leave, at, thread.program.behind_call}, result};
  const auto arguments = arguments_of(thread);
  Output output(thread, record);
  const capture_plan& plan = plan_of(thread.number % numbers_per_abi, arguments);
  if (!is_error(result) || plan.exit_if_failed != 0) {
    capture_memory(thread, {all_operations() + plan.exit_first, plan.exit_count}, arguments, result, output);
  }
  if ((tables().names & names_commands) != 0) {
    output.command();
  }
  const std::uint64_t end = output.complete();
  thread.target = thread.program.behind_call;
  commit(thread, end);
}

}  // namespace
}  // namespace tracer::inprocess::recorder

// What the compiler asks for where classes have virtual functions; nobody calls it.
// NOLINTBEGIN(misc-new-delete-overloads)
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
// NOLINTEND(misc-new-delete-overloads)
extern "C" void __cxa_pure_virtual() {}
