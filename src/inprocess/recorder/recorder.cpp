// The recorder: code that runs inside the tracees, at an address of its own, without a library, and without any
// register but the general ones. A call site's stub jumps to `entry`, which makes the call and records it.
//
// It leaves nothing behind in the program: on its stack it uses a few bytes below the red zone, as a signal would. What
// it must not do, or has no room for, it leaves to the program's own call instruction, which stops for the tracer.
#include <algorithm>
#include <span>

#include "capture/carry_out.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/output.h"

// The entry. rcx: behind the call instruction, as that leaves it; r11 is free; all else is the program's.
asm(R"(
  .pushsection .free_page, "ax"
  .globl recorder_start
recorder_start:
  syscall
  ret
  .org 16
  .asciz "tracer"
  .org 64
  .quad entry, push_flags, push_return, pushed, entered, call, behind_call, noted, missed, leave, left_flags, left
  .quad copy, behind_copy
  .quad function_entry, function_room, function_saved, function_entered, function_left, function_missed
  .quad function_trap, function_trapping, function_trapped
  .quad function_return, return_room, return_saved, return_entered, return_missed, returned, code_end

  .balign 256
entry:
  lea -128(%rsp), %rsp
push_flags:
  pushfq
push_return:
  push %rcx
pushed:
  rdfsbase %r11
  mov %r11d, %ecx
  shr $12, %ecx
  movzbl %cl, %ecx
  shl $6, %ecx
  add owners(%rip), %rcx
  cmp %r11, (%rcx)
  je 1f
  add $16, %rcx
  cmp %r11, (%rcx)
  je 1f
  add $16, %rcx
  cmp %r11, (%rcx)
  je 1f
  add $16, %rcx
  cmp %r11, (%rcx)
  je 1f
  # A thread without an area: the program's own call instruction makes the call.
  mov (%rsp), %rcx
  lea -2(%rcx), %rcx
  jmp missed
1:
  mov 8(%rcx), %r11
  mov %rax, 0(%r11)
  mov %rdi, 8(%r11)
  mov %rsi, 16(%r11)
  mov %rdx, 24(%r11)
  mov %r10, 32(%r11)
  mov %r8, 40(%r11)
  mov %r9, 48(%r11)
  mov %rbx, 56(%r11)
  mov %rbp, 64(%r11)
  mov %r12, 72(%r11)
  mov %r13, 80(%r11)
  mov %r14, 88(%r11)
  mov %r15, 96(%r11)
  mov (%rsp), %rcx
  mov %rcx, 120(%r11)
  mov 8(%rsp), %rcx
  mov %rcx, 104(%r11)
  lea 144(%rsp), %rcx
  mov %rcx, 112(%r11)
  movl $1, 136(%r11)
entered:
  mov %r11, %rbx
  lea 65536(%r11), %rsp
  cld
  mov %rbx, %rdi
  call record_entry
  test %eax, %eax
  je 2f
  mov 0(%rbx), %rax
  mov 8(%rbx), %rdi
  mov 16(%rbx), %rsi
  mov 24(%rbx), %rdx
  mov 32(%rbx), %r10
  mov 40(%rbx), %r8
  mov 48(%rbx), %r9
call:
  syscall
behind_call:
  mov %rax, 0(%rbx)
  movl $3, 136(%rbx)
noted:
  mov %rbx, %rdi
  call record_exit
2:
  mov 8(%rbx), %rdi
  mov 16(%rbx), %rsi
  mov 24(%rbx), %rdx
  mov 32(%rbx), %r10
  mov 40(%rbx), %r8
  mov 48(%rbx), %r9
  mov 0(%rbx), %rax
  mov 104(%rbx), %r11
  mov 128(%rbx), %rcx
  mov 112(%rbx), %rsp
  lea -136(%rsp), %rsp
  mov 56(%rbx), %rbx
  jmp leave
missed:
  lea 8(%rsp), %rsp
leave:
  popfq
left_flags:
  lea 128(%rsp), %rsp
left:
  jmp *%rcx

  .balign 8
  .globl owners
owners:
  .quad 0x7ea000400000

# copy_bytes(to, from, count): how many were left where a fault ended it, which the tracer takes for the end. rcx: as many.
  .globl copy_bytes
copy_bytes:
  mov %rdx, %rcx
copy:
  cmp $64, %rcx
  jbe 2f
  rep movsb
  jmp behind_copy
1:
  mov (%rsi), %rax
  mov %rax, (%rdi)
  add $8, %rsi
  add $8, %rdi
  sub $8, %rcx
2:
  cmp $8, %rcx
  jae 1b
  test %ecx, %ecx
  je behind_copy
3:
  mov (%rsi), %al
  mov %al, (%rdi)
  inc %rsi
  inc %rdi
  dec %ecx
  jne 3b
behind_copy:
  mov %rcx, %rax
  ret

# own_call(number, first, second, third, fourth, fifth)
  .globl own_call
own_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  syscall
  ret
  .popsection
)");

namespace tracer::inprocess::recorder {
namespace {

extern "C" {
std::uint32_t record_entry(ThreadArea* thread);
void record_exit(ThreadArea* thread);
}

static_assert(offsetof(ThreadArea, r15) == 96 && offsetof(ThreadArea, flags) == 104 &&
              offsetof(ThreadArea, stack_pointer) == 112 && offsetof(ThreadArea, behind_call) == 120 &&
              offsetof(ThreadArea, target) == 128 && offsetof(ThreadArea, phase) == 136);
static_assert(offsetof(Area, ring) == 65536 && sizeof(ThreadArea) <= area_head_size);
static_assert(owners_address == 0x7ea000400000 && sizeof(Owner) == 16 && owners_per_bucket == 4 && buckets == 256);

constexpr std::uint64_t call_instruction_size = 2;

const capture_plan& plan_of(std::uint64_t number, const std::uint64_t* arguments) {
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

void capture_memory(ThreadArea& thread, std::span<const capture_operation> operations, const std::uint64_t* arguments,
                    std::int64_t result, Output& output) {
  if (operations.empty()) {
    return;
  }
  capture::Slots slots;
  std::copy(arguments, arguments + most_arguments, slots.begin());
  slots[slot_result] = static_cast<std::uint64_t>(result);
  slots[slot_stack] = thread.stack_pointer;
  const OwnMemory memory(thread);
  capture::carry_out(operations, slots, memory, output);
}

const capture_operation* all_operations() {
  return reinterpret_cast<const capture_operation*>(&tables() + 1);
}

/// Whether the recorder makes the call. The rest of the entry is on the way then.
std::uint32_t record_entry(ThreadArea* area) {
  ThreadArea& thread = *area;
  const std::uint64_t number = thread.result;
  const Tables& t = tables();
  thread.target = thread.behind_call - call_instruction_size;
  const std::uint64_t used = thread.written - __atomic_load_n(&thread.read, __ATOMIC_ACQUIRE);
  // Both records of the call, each with what is left before the ring's end.
  if (number >= numbers_per_abi || __atomic_load_n(&thread.off, __ATOMIC_RELAXED) != 0 ||
      __atomic_load_n(&thread.held, __ATOMIC_RELAXED) != 0 || used > ring_size - 4 * largest_record) {
    return 0;
  }
  // What truncates a file may take pages away that are remembered.
  if ((number == open_number && (thread.rsi & truncates) != 0) ||
      (number == openat_number && (thread.rdx & truncates) != 0)) {
    return 0;
  }
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
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
      thread.started = t.times != 0 ? ticks() : 0;
    }
    __atomic_store_n(&thread.phase, std::uint32_t{phase_calling}, __ATOMIC_RELEASE);
    return 1;
  }
  thread.making = making_recorded;
  const std::uint64_t arguments[] = {thread.rdi, thread.rsi, thread.rdx, thread.r10, thread.r8, thread.r9};
  const capture_plan& plan = plan_of(number, arguments);
  if (((plan.named_at_entry | plan.named_at_exit) & t.stopped) != 0) {
    return 0;
  }
  EnterRecord record;
  record.head = {0, record_enter, ticks(), thread.behind_call};
  record.number = number;
  std::copy(std::begin(arguments), std::end(arguments), record.args);
  record.stack_pointer = thread.stack_pointer;
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
  const std::uint64_t taken = tables().times != 0 ? ticks() - thread.started : 0;
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
    thread.target = thread.behind_call;
    return;
  }
  const std::uint64_t at = ticks();
  const auto result = static_cast<std::int64_t>(thread.result);
  const ExitRecord record{{0, record_leave, at, thread.behind_call}, result};
  const std::uint64_t arguments[] = {thread.rdi, thread.rsi, thread.rdx, thread.r10, thread.r8, thread.r9};
  Output output(thread, record);
  const capture_plan& plan = plan_of(thread.number % numbers_per_abi, arguments);
  if (!is_error(result) || plan.exit_if_failed != 0) {
    capture_memory(thread, {all_operations() + plan.exit_first, plan.exit_count}, arguments, result, output);
  }
  if ((tables().names & names_commands) != 0) {
    output.command();
  }
  const std::uint64_t end = output.complete();
  thread.target = thread.behind_call;
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
