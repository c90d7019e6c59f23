// The registers of an x86_64 program at a call, as the kernel would report them of a stopped thread. For the recorder,
// which has no other code of this room.
#pragma once

#include <sys/user.h>

#include <cstdint>

#include "arch/call_site.h"

namespace tracer::arch {

using StoredRegisters = user_regs_struct;

/// The register set NT_PRSTATUS behind the call instruction of a call of this number, before its result.
inline StoredRegisters registers_at_call(const CallRegisters& program, std::uint64_t number) {
  constexpr std::uint16_t code_segment = 0x33;  // of 64-bit programs
  constexpr std::uint16_t stack_segment = 0x2b;
  const auto& [rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r13, r14, r15] = program.general;
  StoredRegisters set{};
  set.rdi = rdi;
  set.rsi = rsi;
  set.rdx = rdx;
  set.r10 = r10;
  set.r8 = r8;
  set.r9 = r9;
  set.rbx = rbx;
  set.rbp = rbp;
  set.r12 = r12;
  set.r13 = r13;
  set.r14 = r14;
  set.r15 = r15;
  set.r11 = set.eflags = program.flags;
  set.rcx = set.rip = program.behind_call;
  set.rax = set.orig_rax = number;
  set.rsp = program.stack_pointer;
  set.cs = code_segment;
  set.ss = stack_segment;
  return set;
}

}  // namespace tracer::arch
