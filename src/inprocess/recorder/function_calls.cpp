// The part of the recorder for functions: a stub leads here from where a linkage table leads to a function, and the
// function returns to here, as its return address is replaced. Both change no register of the program.
#include <algorithm>
#include <array>
#include <span>

#include "arch/call_registers.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/output.h"

namespace tracer::inprocess::recorder {
namespace {

constexpr std::uint64_t records_of_function = 2;

extern "C" {
void record_call_of_function(ThreadArea* thread);
void record_return_of_function(ThreadArea* thread);
}

Returns& returns() {
  return *reinterpret_cast<Returns*>(returns_address);
}

const Symbols& symbols() {
  return *reinterpret_cast<const Symbols*>(recorder_address + symbols_offset);
}

/// The entry of the table for a return address at `place`; null if there is none. Nobody but the thread whose stack it
/// is looks for it.
Return* find_return(std::uint64_t place) {
  for (Return& entry : returns().of[return_bucket(place)]) {
    if (__atomic_load_n(&entry.place, __ATOMIC_RELAXED) == place) {
      return &entry;
    }
  }
  return nullptr;
}

/// The same, or one that is free, or whose function was left by a jump, and its stack since used for something else.
/// Null if there is none.
Return* take_return(std::uint64_t place) {
  Return* const known = find_return(place);
  if (known != nullptr) {
    return known;
  }
  for (Return& entry : returns().of[return_bucket(place)]) {
    std::uint64_t none = 0;
    if (__atomic_compare_exchange_n(&entry.place, &none, place, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      return &entry;
    }
  }
  return nullptr;
}

const capture_operation* operations_of(const FunctionInfo& info) {
  return reinterpret_cast<const capture_operation*>(&info + 1);
}

/// Where the thread goes to stands in `target` then: to the function, or to the stub's trap if that is not recorded.
void record_call_of_function(ThreadArea* area) {
  ThreadArea& thread = *area;
  const auto& info = *reinterpret_cast<const FunctionInfo*>(thread.function);
  thread.target = thread.function - trap_before_info;
  // Its return finds room as well, unless others come between: see record_return_of_function().
  if (!can_record(thread, records_of_function)) {
    return;
  }
  auto* const place = reinterpret_cast<std::uint64_t*>(thread.program.stack_pointer);
  // A function that was called so, and ends in a jump to this one, has replaced it already: both return at once.
  const bool is_replaced = *place == symbols().function_return;
  Return* const entry =
      is_replaced ? find_return(thread.program.stack_pointer) : take_return(thread.program.stack_pointer);
  if (entry == nullptr) {
    thread.refuses = 1;
    return;
  }
  const std::uint64_t original = is_replaced ? entry->original : *place;
  CallRecord record;
  record.head = {0, record_call, arch::clock_ticks(), info.place};
  record.stack_pointer = thread.program.stack_pointer;
  const auto arguments = arch::function_arguments(thread.program, thread.scratch);
  std::copy(arguments.begin(), arguments.end(), record.args);
  Output output(thread, record);
  std::uint64_t stack[1 + words_of_function - most_arguments] = {original};
  const std::size_t room = page_size - thread.program.stack_pointer % page_size;  // what is beyond may not be there
  const std::size_t there = std::min(sizeof stack, room);
  for (std::size_t i = 1; i < there / sizeof stack[0]; ++i) {
    stack[i] = place[i];
  }
  output.memory(thread.program.stack_pointer, std::as_bytes(std::span(stack)).first(there));
  std::array<std::uint64_t, most_arguments> values{};
  for (std::size_t i = 0; i < std::min<std::size_t>(info.word_count, most_arguments); ++i) {
    const std::size_t word = info.words[i];
    values[i] = word < most_arguments      ? arguments[word]
                : word < words_of_function ? stack[1 + word - most_arguments]
                                           : 0;
  }
  capture_memory(thread, {operations_of(info), info.entry_count}, values, 0, output);
  if ((tables().names & names_commands) != 0) {
    output.command();
  }
  const std::uint64_t end = output.complete();
  if (!is_replaced) {
    entry->original = original;
    entry->function = thread.function;
    std::copy(values.begin(), values.end(), entry->args);
    thread.original = original;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *place = symbols().function_return;
  }
  thread.target = *reinterpret_cast<const std::uint64_t*>(info.slot);
  commit(thread, end);
}

std::int64_t error_at(const FunctionInfo& info) {
  std::uint64_t offset = static_cast<std::uint64_t>(info.errno_offset);
  if (info.errno_word != 0) {
    offset += *reinterpret_cast<const std::uint64_t*>(info.errno_word);
  }
  return *reinterpret_cast<const std::int32_t*>(arch::own_thread_pointer() + offset);
}

/// Where the thread goes to stands in `target` then. A return that cannot be recorded stops the thread: the tracer
/// makes room, reports it, and leads the thread on.
void record_return_of_function(ThreadArea* area) {
  ThreadArea& thread = *area;
  Return* const entry = find_return(thread.program.stack_pointer);
  if (entry == nullptr || !can_record(thread, 1)) {
    arch::stop_for_tracer();
    return;
  }
  thread.original = thread.target = entry->original;
  thread.function = entry->function;
  const auto& info = *reinterpret_cast<const FunctionInfo*>(entry->function);
  const auto results = arch::function_results(thread.result, thread.program);
  ReturnRecord record;
  record.head = {0, record_return, arch::clock_ticks(), info.place};
  record.stack_pointer = thread.program.stack_pointer;
  std::copy(results.begin(), results.end(), record.results);
  record.has_error = info.has_errno;
  record.error = info.has_errno != 0 ? error_at(info) : 0;
  Output output(thread, record);
  capture_memory(thread, {operations_of(info) + info.entry_count, info.exit_count}, entry->args,
                 static_cast<std::int64_t>(thread.result), output);
  commit(thread, output.complete());
  __atomic_store_n(&entry->place, std::uint64_t{0}, __ATOMIC_RELEASE);
}

}  // namespace
}  // namespace tracer::inprocess::recorder
