// The entry of the recorder, and what it cannot say in C++. See recorder.cpp, and arch/aarch64/call_site.cpp for the
// stub that comes here.
#include "inprocess/layout.h"

// A call leaves all registers but x0 as they are, so that the stub and the entry keep some below the program's stack
// pointer: x16 and x17 144 bytes below, x14 and x15 160 bytes below. No flag changes before they are stored.
//
// The entry. x17: the stub's exit, with the address behind the call instruction in the word before it; behind the exit
// is that for calls that are not made here. x16 is free; all else is the program's.
asm(R"(
  .pushsection .free_page, "ax"
  .globl recorder_start
recorder_start:
  svc #0
  ret
  .org 16
  .asciz "tracer"
  .org 64
  .quad entry, entered, call, behind_call, noted, copy, behind_copy, code_end
  .quad kept, leave

  .balign 256
entry:
  stp x14, x15, [sp, #-160]
kept:
  mrs x14, tpidr_el0
  ubfx x15, x14, #12, #8
  ldr x16, owners
  add x15, x16, x15, lsl #6
  ldr x16, [x15], #16
  eor x16, x16, x14
  cbz x16, 1f
  ldr x16, [x15], #16
  eor x16, x16, x14
  cbz x16, 1f
  ldr x16, [x15], #16
  eor x16, x16, x14
  cbz x16, 1f
  ldr x16, [x15], #16
  eor x16, x16, x14
  cbz x16, 1f
  // A thread without an area: the program's own call instruction makes the call.
  ldp x14, x15, [sp, #-160]
  add x16, x17, #8
  br x16
1:
  ldr x16, [x15, #-8]
  str x8, [x16, #0]
  stp x0, x1, [x16, #8]
  stp x2, x3, [x16, #24]
  stp x4, x5, [x16, #40]
  stp x6, x7, [x16, #56]
  stp x8, x9, [x16, #72]
  stp x10, x11, [x16, #88]
  stp x12, x13, [x16, #104]
  ldp x14, x15, [sp, #-160]
  stp x14, x15, [x16, #120]
  ldp x14, x15, [sp, #-144]
  stp x14, x15, [x16, #136]
  stp x18, x19, [x16, #152]
  stp x20, x21, [x16, #168]
  stp x22, x23, [x16, #184]
  stp x24, x25, [x16, #200]
  stp x26, x27, [x16, #216]
  stp x28, x29, [x16, #232]
  str x30, [x16, #248]
  mrs x14, nzcv
  mov x15, sp
  stp x14, x15, [x16, #256]
  ldur x14, [x17, #-8]
  stp x14, x17, [x16, #272]
  mov w14, #1
  str w14, [x16, #296]
entered:
  mov x19, x16
  add x14, x16, #16, lsl #12
  mov sp, x14
  mov x29, #0
  mov x0, x19
  bl record_entry
  cbz w0, 2f
  ldp x0, x1, [x19, #8]
  ldp x2, x3, [x19, #24]
  ldp x4, x5, [x19, #40]
  ldp x6, x7, [x19, #56]
  ldr x8, [x19, #72]
call:
  svc #0
behind_call:
  str x0, [x19, #0]
  mov w1, #3
  str w1, [x19, #296]
noted:
  mov x0, x19
  bl record_exit
2:
  // The call was made if the program goes on behind it.
  ldp x14, x17, [x19, #272]
  ldr x15, [x19, #288]
  add x16, x17, #8
  cmp x14, x15
  csel x17, x17, x16, eq
  ldr x0, [x19, #0]
  ldr x1, [x19, #8]
  csel x0, x0, x1, eq
  ldp x14, x15, [x19, #256]
  msr nzcv, x14
  mov sp, x15
  ldp x14, x15, [x19, #136]
  stp x14, x15, [sp, #-144]
  ldp x1, x2, [x19, #16]
  ldp x3, x4, [x19, #32]
  ldp x5, x6, [x19, #48]
  ldp x7, x8, [x19, #64]
  ldp x9, x10, [x19, #80]
  ldp x11, x12, [x19, #96]
  ldp x13, x14, [x19, #112]
  ldr x15, [x19, #128]
  ldp x29, x30, [x19, #240]
  ldp x18, x19, [x19, #152]
leave:
  br x17

  .balign 8
owners:
  .quad 0x7ea000400000

// copy_bytes(to, from, count): how many were left where a fault ended it, which the tracer takes for the end. x2: as many.
  .globl copy_bytes
copy_bytes:
copy:
  cmp x2, #8
  b.lo 4f
  ldr x3, [x1], #8
  str x3, [x0], #8
  sub x2, x2, #8
  b copy_bytes
4:
  cbz x2, behind_copy
  ldrb w3, [x1], #1
  strb w3, [x0], #1
  sub x2, x2, #1
  b 4b
behind_copy:
  mov x0, x2
  ret

// own_call(number, first, second, third, fourth, fifth)
  .globl own_call
own_call:
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  svc #0
  ret
  .popsection
)");

namespace tracer::inprocess::recorder::aarch64 {

static_assert(offsetof(ThreadArea, result) == 0 && offsetof(ThreadArea, program) == 8 &&
              offsetof(arch::CallRegisters, flags) == 248 && offsetof(arch::CallRegisters, behind_call) == 264 &&
              offsetof(ThreadArea, target) == 288 && offsetof(ThreadArea, phase) == 296 &&
              offsetof(Area, ring) == 65536);
static_assert(owners_address == 0x7ea000400000 && sizeof(Owner) == 16 && owners_per_bucket == 4 && buckets == 256);

}  // namespace tracer::inprocess::recorder::aarch64
