// How a stub leads into the recorder where a function is called, and how the function returns to it. Both change no
// register of the program. See function_calls.cpp.
#include "inprocess/layout.h"
#include "inprocess/recorder/x86_64/registers.h"

asm(R"(
  .text
  .globl function_entry, function_room, function_saved, function_entered, function_left, function_missed
  .globl function_trap, function_trapping, function_trapped
  .globl function_return, return_room, return_saved, return_entered, return_missed, return_stopped, returned

  .macro store_function_registers
  store_general %rcx
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
  .endm
  .macro load_function_registers
  load_arguments %rbx
  mov 0(%rbx), %rax
  mov 168(%rbx), %rcx
  mov 176(%rbx), %r11
  mov 56(%rbx), %rbx
  .endm

# A function is called. On the stack: r11, and the return address.
  .balign 64
function_entry:
  lea -16(%rsp), %rsp
function_room:
  mov %rcx, 8(%rsp)
  mov %rax, (%rsp)
function_saved:
  find_area %rax, %eax, 1f
  jmp function_missed
1:
  mov 8(%rcx), %rcx
  store_function_registers
  mov %r11, 184(%rcx)
  movq $0, 192(%rcx)
  movl $4, 136(%rcx)
function_entered:
  take_own_stack %rcx
  call record_call_of_function
  mov 112(%rbx), %rsp
  pushq 128(%rbx)
  load_function_registers
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
  find_area %rax, %eax, 1f
  jmp return_missed
1:
  mov 8(%rcx), %rcx
  store_function_registers
  movq $0, 192(%rcx)
  movl $5, 136(%rcx)
return_entered:
  take_own_stack %rcx
  call record_return_of_function
  mov 112(%rbx), %rsp
  lea 8(%rsp), %rsp
  pushq 128(%rbx)
  load_function_registers
returned:
  ret
# A thread without an area: the tracer reports the return, and leads the thread on.
return_missed:
  int3
return_stopped:
  ud2
)");

namespace tracer::inprocess::recorder::x86_64 {

static_assert(offsetof(ThreadArea, written) == 144 && offsetof(ThreadArea, before_entry) == 160 &&
              offsetof(ThreadArea, scratch) == 168 && offsetof(arch::FunctionScratch, r11) == 8 &&
              offsetof(ThreadArea, function) == 184 && offsetof(ThreadArea, original) == 192);
static_assert(phase_function_called == 4 && phase_function_returned == 5 && trap_before_info == 17);

}  // namespace tracer::inprocess::recorder::x86_64
