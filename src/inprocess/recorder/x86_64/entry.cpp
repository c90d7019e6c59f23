// The entry of the recorder, and what it cannot say in C++. See recorder.cpp.
#include "inprocess/layout.h"
#include "inprocess/recorder/x86_64/registers.h"

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
  .quad entry, entered, call, behind_call, noted, copy, behind_copy, code_end
  .quad function_entry, function_return
  .quad push_flags, push_return, pushed, missed, leave, left_flags, left
  .quad function_room, function_saved, function_entered, function_left, function_missed
  .quad function_trap, function_trapping, function_trapped
  .quad return_room, return_saved, return_entered, return_missed, return_stopped, returned

  .balign 256
entry:
  lea -128(%rsp), %rsp
push_flags:
  pushfq
push_return:
  push %rcx
pushed:
  find_area %r11, %r11d, 1f
  # A thread without an area: the program's own call instruction makes the call.
  mov (%rsp), %rcx
  lea -2(%rcx), %rcx
  jmp missed
1:
  mov 8(%rcx), %r11
  mov %rax, 0(%r11)
  store_general %r11
  mov (%rsp), %rcx
  mov %rcx, 120(%r11)
  mov 8(%rsp), %rcx
  mov %rcx, 104(%r11)
  lea 144(%rsp), %rcx
  mov %rcx, 112(%r11)
  movl $1, 136(%r11)
entered:
  take_own_stack %r11
  call record_entry
  test %eax, %eax
  je 2f
  mov 0(%rbx), %rax
  load_arguments %rbx
call:
  syscall
behind_call:
  mov %rax, 0(%rbx)
  movl $3, 136(%rbx)
noted:
  mov %rbx, %rdi
  call record_exit
2:
  load_arguments %rbx
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

namespace tracer::inprocess::recorder::x86_64 {

static_assert(offsetof(ThreadArea, result) == 0 && offsetof(ThreadArea, program) == 8 &&
              offsetof(arch::CallRegisters, flags) == 96 && offsetof(ThreadArea, target) == 128 &&
              offsetof(ThreadArea, phase) == 136 && offsetof(Area, ring) == 65536);
static_assert(owners_address == 0x7ea000400000 && sizeof(Owner) == 16 && owners_per_bucket == 4 && buckets == 256);
static_assert(sizeof(arch::EntryLabels) == 7 * 8 && sizeof(arch::FunctionLabels) == 14 * 8);

}  // namespace tracer::inprocess::recorder::x86_64
