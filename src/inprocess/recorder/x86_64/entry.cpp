// The entry of the recorder, and what it cannot say in C++. See recorder.cpp.
#include "inprocess/layout.h"

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
  .quad push_flags, push_return, pushed, missed, leave, left_flags, left

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

}  // namespace tracer::inprocess::recorder::x86_64
