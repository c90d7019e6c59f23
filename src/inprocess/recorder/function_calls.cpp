// The part of the recorder for functions: a stub leads here from where a linkage table leads to a function, and the
// function returns to here, as its return address is replaced. Both change no register of the program.
#include <algorithm>
#include <span>

#include "capture/carry_out.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/output.h"

asm(R"(
  .text
  .globl function_entry, function_room, function_saved, function_entered, function_left, function_missed
  .globl function_trap, function_trapping, function_trapped
  .globl function_return, return_room, return_saved, return_entered, return_missed, returned

# A function is called. On the stack: r11, and the return address.
  .balign 64
function_entry:
  lea -16(%rsp), %rsp
function_room:
  mov %rcx, 8(%rsp)
  mov %rax, (%rsp)
function_saved:
  rdfsbase %rax
  mov %eax, %ecx
  shr $12, %ecx
  movzbl %cl, %ecx
  shl $6, %ecx
  add owners(%rip), %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  jmp function_missed
1:
  mov 8(%rcx), %rcx
  mov %rdi, 8(%rcx)
  mov %rsi, 16(%rcx)
  mov %rdx, 24(%rcx)
  mov %r10, 32(%rcx)
  mov %r8, 40(%rcx)
  mov %r9, 48(%rcx)
  mov %rbx, 56(%rcx)
  mov %rbp, 64(%rcx)
  mov %r12, 72(%rcx)
  mov %r13, 80(%rcx)
  mov %r14, 88(%rcx)
  mov %r15, 96(%rcx)
  mov (%rsp), %rax
  mov %rax, 0(%rcx)
  mov 8(%rsp), %rax
  mov %rax, 168(%rcx)
  mov 16(%rsp), %rax
  mov %rax, 176(%rcx)
  lea 24(%rsp), %rax
  mov %rax, 112(%rcx)
  mov 144(%rcx), %rax
  mov %rax, 160(%rcx)
  mov %r11, 184(%rcx)
  movq $0, 192(%rcx)
  movl $4, 136(%rcx)
function_entered:
  mov %rcx, %rbx
  lea 65536(%rbx), %rsp
  cld
  mov %rbx, %rdi
  call record_call_of_function
  mov 112(%rbx), %rsp
  pushq 128(%rbx)
  mov 8(%rbx), %rdi
  mov 16(%rbx), %rsi
  mov 24(%rbx), %rdx
  mov 32(%rbx), %r10
  mov 40(%rbx), %r8
  mov 48(%rbx), %r9
  mov 0(%rbx), %rax
  mov 168(%rbx), %rcx
  mov 176(%rbx), %r11
  mov 56(%rbx), %rbx
function_left:
  ret
function_missed:
  mov (%rsp), %rax
  mov 8(%rsp), %rcx
  lea 16(%rsp), %rsp
function_trap:
  lea -17(%r11), %r11
function_trapping:
  xchg %r11, (%rsp)
function_trapped:
  ret

# A function returns. The return address was in the word below the stack pointer.
  .balign 64
function_return:
  lea -32(%rsp), %rsp
return_room:
  mov %r11, 16(%rsp)
  mov %rcx, 8(%rsp)
  mov %rax, (%rsp)
return_saved:
  rdfsbase %rax
  mov %eax, %ecx
  shr $12, %ecx
  movzbl %cl, %ecx
  shl $6, %ecx
  add owners(%rip), %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  add $16, %rcx
  cmp %rax, (%rcx)
  je 1f
  jmp return_missed
1:
  mov 8(%rcx), %rcx
  mov %rdi, 8(%rcx)
  mov %rsi, 16(%rcx)
  mov %rdx, 24(%rcx)
  mov %r10, 32(%rcx)
  mov %r8, 40(%rcx)
  mov %r9, 48(%rcx)
  mov %rbx, 56(%rcx)
  mov %rbp, 64(%rcx)
  mov %r12, 72(%rcx)
  mov %r13, 80(%rcx)
  mov %r14, 88(%rcx)
  mov %r15, 96(%rcx)
  mov (%rsp), %rax
  mov %rax, 0(%rcx)
  mov 8(%rsp), %rax
  mov %rax, 168(%rcx)
  mov 16(%rsp), %rax
  mov %rax, 176(%rcx)
  lea 24(%rsp), %rax
  mov %rax, 112(%rcx)
  mov 144(%rcx), %rax
  mov %rax, 160(%rcx)
  movq $0, 192(%rcx)
  movl $5, 136(%rcx)
return_entered:
  mov %rcx, %rbx
  lea 65536(%rbx), %rsp
  cld
  mov %rbx, %rdi
  call record_return_of_function
  mov 112(%rbx), %rsp
  lea 8(%rsp), %rsp
  pushq 128(%rbx)
  mov 8(%rbx), %rdi
  mov 16(%rbx), %rsi
  mov 24(%rbx), %rdx
  mov 32(%rbx), %r10
  mov 40(%rbx), %r8
  mov 48(%rbx), %r9
  mov 0(%rbx), %rax
  mov 168(%rbx), %rcx
  mov 176(%rbx), %r11
  mov 56(%rbx), %rbx
returned:
  ret
# A thread without an area, which nobody knows of: the program's stack has room for this.
return_missed:
  push %rdi
  push %rsi
  push %rdx
  push %r8
  push %r9
  push %r10
  lea 72(%rsp), %rdi
  cld
  call return_unrecorded
  mov %rax, 72(%rsp)
  pop %r10
  pop %r9
  pop %r8
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  pop %rcx
  pop %r11
  ret
)");

namespace tracer::inprocess::recorder {
namespace {

extern "C" {
void record_call_of_function(ThreadArea* thread);
void record_return_of_function(ThreadArea* thread);
std::uint64_t return_unrecorded(std::uint64_t place);
}

static_assert(offsetof(ThreadArea, written) == 144 && offsetof(ThreadArea, before_entry) == 160 &&
              offsetof(ThreadArea, rcx) == 168 && offsetof(ThreadArea, r11) == 176 &&
              offsetof(ThreadArea, function) == 184 && offsetof(ThreadArea, original) == 192);
static_assert(phase_function_called == 4 && phase_function_returned == 5 && trap_before_info == 17);

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

void capture_of_function(ThreadArea& thread, std::span<const capture_operation> operations, const std::uint64_t* values,
                         std::uint64_t result, Output& output) {
  if (operations.empty()) {
    return;
  }
  capture::Slots slots;
  std::copy(values, values + most_arguments, slots.begin());
  slots[slot_result] = result;
  slots[slot_stack] = thread.stack_pointer;
  const OwnMemory memory(thread);
  capture::carry_out(operations, slots, memory, output);
}

/// Where the thread goes to stands in `target` then: to the function, or to the stub's trap if that is not recorded.
void record_call_of_function(ThreadArea* area) {
  ThreadArea& thread = *area;
  const auto& info = *reinterpret_cast<const FunctionInfo*>(thread.function);
  thread.target = thread.function - trap_before_info;
  const std::uint64_t used = thread.written - __atomic_load_n(&thread.read, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&thread.off, __ATOMIC_RELAXED) != 0 || __atomic_load_n(&thread.held, __ATOMIC_RELAXED) != 0 ||
      used > ring_size - 4 * largest_record) {
    return;
  }
  auto* const place = reinterpret_cast<std::uint64_t*>(thread.stack_pointer);
  // A function that was called so, and ends in a jump to this one, has replaced it already: both return at once.
  const bool is_replaced = *place == symbols().function_return;
  Return* const entry = is_replaced ? find_return(thread.stack_pointer) : take_return(thread.stack_pointer);
  if (entry == nullptr) {
    thread.refuses = 1;
    return;
  }
  const std::uint64_t original = is_replaced ? entry->original : *place;
  CallRecord record;
  record.head = {0, record_call, ticks(), info.place};
  record.stack_pointer = thread.stack_pointer;
  const std::uint64_t arguments[] = {thread.rdi, thread.rsi, thread.rdx, thread.rcx, thread.r8, thread.r9};
  std::copy(std::begin(arguments), std::end(arguments), record.args);
  Output output(thread, record);
  std::uint64_t stack[1 + words_of_function - most_arguments] = {original};
  const std::size_t room = page_size - thread.stack_pointer % page_size;  // what is beyond may not be there
  const std::size_t there = std::min(sizeof stack, room);
  for (std::size_t i = 1; i < there / sizeof stack[0]; ++i) {
    stack[i] = place[i];
  }
  output.memory(thread.stack_pointer, std::as_bytes(std::span(stack)).first(there));
  std::uint64_t values[most_arguments] = {};
  for (std::size_t i = 0; i < std::min<std::size_t>(info.word_count, most_arguments); ++i) {
    const std::size_t word = info.words[i];
    values[i] = word < most_arguments      ? arguments[word]
                : word < words_of_function ? stack[1 + word - most_arguments]
                                           : 0;
  }
  capture_of_function(thread, {operations_of(info), info.entry_count}, values, 0, output);
  if ((tables().names & names_commands) != 0) {
    output.command();
  }
  const std::uint64_t end = output.complete();
  if (!is_replaced) {
    entry->original = original;
    entry->function = thread.function;
    std::copy(std::begin(values), std::end(values), entry->args);
    thread.original = original;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *place = symbols().function_return;
  }
  thread.target = *reinterpret_cast<const std::uint64_t*>(info.slot);
  commit(thread, end);
}

std::uint64_t return_unrecorded(std::uint64_t place) {
  Return* const entry = find_return(place);
  if (entry == nullptr) {
    return 0;
  }
  const std::uint64_t original = entry->original;
  __atomic_store_n(&entry->place, std::uint64_t{0}, __ATOMIC_RELEASE);
  return original;
}

std::int64_t error_at(const FunctionInfo& info) {
  std::uint64_t offset = static_cast<std::uint64_t>(info.errno_offset);
  if (info.errno_word != 0) {
    offset += *reinterpret_cast<const std::uint64_t*>(info.errno_word);
  }
  std::uint64_t thread_pointer = 0;
  asm volatile("rdfsbase %0" : "=r"(thread_pointer));
  return *reinterpret_cast<const std::int32_t*>(thread_pointer + offset);
}

void record_return_of_function(ThreadArea* area) {
  ThreadArea& thread = *area;
  const Return* const entry = find_return(thread.stack_pointer);
  if (entry == nullptr) {
    thread.target = 0;
    return;
  }
  thread.original = thread.target = entry->original;
  thread.function = entry->function;
  const auto& info = *reinterpret_cast<const FunctionInfo*>(entry->function);
  const std::uint64_t used = thread.written - __atomic_load_n(&thread.read, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&thread.off, __ATOMIC_RELAXED) == 0 && used <= ring_size - 2 * largest_record) {
    ReturnRecord record;
    record.head = {0, record_return, ticks(), info.place};
    record.stack_pointer = thread.stack_pointer;
    record.results[0] = thread.result;
    record.results[1] = thread.rdx;
    record.has_error = info.has_errno;
    record.error = info.has_errno != 0 ? error_at(info) : 0;
    Output output(thread, record);
    capture_of_function(thread, {operations_of(info) + info.entry_count, info.exit_count}, entry->args, thread.result,
                        output);
    commit(thread, output.complete());
  }
  return_unrecorded(thread.stack_pointer);
}

}  // namespace
}  // namespace tracer::inprocess::recorder
