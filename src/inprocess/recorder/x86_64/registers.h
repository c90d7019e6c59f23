// How the recorder's entries find the area of their thread, and keep the program's registers there. Offsets are those
// of ThreadArea; entry.cpp and function_entry.cpp check them.
#pragma once

asm(R"(
  # The thread is known by its thread pointer, which goes to `pointer` (its lower half: `low`). Goes to `found` with the
  # place in Owners in rcx, or on.
  .macro find_area pointer, low, found
  rdfsbase \pointer
  mov \low, %ecx
  shr $12, %ecx
  movzbl %cl, %ecx
  shl $6, %ecx
  add owners(%rip), %rcx
  cmp \pointer, (%rcx)
  je \found
  .rept 3
  add $16, %rcx
  cmp \pointer, (%rcx)
  je \found
  .endr
  .endm

  .macro store_general area
  mov %rdi, 8(\area)
  mov %rsi, 16(\area)
  mov %rdx, 24(\area)
  mov %r10, 32(\area)
  mov %r8, 40(\area)
  mov %r9, 48(\area)
  mov %rbx, 56(\area)
  mov %rbp, 64(\area)
  mov %r12, 72(\area)
  mov %r13, 80(\area)
  mov %r14, 88(\area)
  mov %r15, 96(\area)
  .endm

  .macro load_arguments area
  mov 8(\area), %rdi
  mov 16(\area), %rsi
  mov 24(\area), %rdx
  mov 32(\area), %r10
  mov 40(\area), %r8
  mov 48(\area), %r9
  .endm

  # From here on rbx has the area, which C++ gets as its argument.
  .macro take_own_stack area
  mov \area, %rbx
  lea 65536(\area), %rsp
  cld
  mov %rbx, %rdi
  .endm
)");
