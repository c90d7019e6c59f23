// See arch/call_registers.h.
#pragma once

#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer::arch {

struct CallRegisters {
  /// In the order of the call's arguments (rdi, rsi, rdx, r10, r8, r9), then those that functions preserve (rbx, rbp,
  /// r12 to r15).
  std::array<std::uint64_t, 12> general;
  std::uint64_t flags;
  std::uint64_t stack_pointer;
  std::uint64_t behind_call;
};

using StoredRegisters = user_regs_struct;

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

struct EntryLabels {
  std::uint64_t push_flags;   ///< the stack pointer is below the red zone
  std::uint64_t push_return;  ///< the flags are on the program's stack
  std::uint64_t pushed;       ///< and the address behind the call instruction; more registers change
  std::uint64_t missed;       ///< as `pushed`, on the way out
  std::uint64_t leave;        ///< as `push_return`, on the way out: rcx says where to
  std::uint64_t left_flags;   ///< as `push_flags`
  std::uint64_t left;         ///< as the entry
};

/// What a function's caller, or its callee, may have put elsewhere than in CallRegisters::general.
struct FunctionScratch {
  std::uint64_t rcx;
  std::uint64_t r11;
};

inline std::array<std::uint64_t, 6> function_arguments(const CallRegisters& program, const FunctionScratch& scratch) {
  const auto& general = program.general;
  return {general[0], general[1], general[2], scratch.rcx, general[4], general[5]};
}

inline std::array<std::uint64_t, 2> function_results(std::uint64_t result, const CallRegisters& program) {
  return {result, program.general[2]};
}

struct FunctionLabels {
  // A function is called: r11 has what the recorder knows of it, and the program's r11 is on the stack.
  std::uint64_t room;      ///< room for two more words is made
  std::uint64_t saved;     ///< rcx and rax are there
  std::uint64_t entered;   ///< the area has the registers, and the phase
  std::uint64_t left;      ///< all registers are the program's; the address that follows is on the stack
  std::uint64_t missed;    ///< as `saved`, on the way to the stub's trap
  std::uint64_t trap;      ///< as the entry
  std::uint64_t trapping;  ///< r11 has the address of the trap
  std::uint64_t trapped;   ///< as `left`
  // It returns: the stack pointer is behind where the return address was.
  std::uint64_t return_room;     ///< that is on the stack again, and room for three words
  std::uint64_t return_saved;    ///< r11, rcx and rax are there
  std::uint64_t return_entered;  ///< as `entered`
  std::uint64_t return_missed;   ///< as `return_saved`: the thread is about to stop for the tracer
  std::uint64_t return_stopped;  ///< it has
  std::uint64_t returned;        ///< as `left`
};

inline std::uint64_t own_thread_pointer() {
  std::uint64_t pointer = 0;
  asm volatile("rdfsbase %0" : "=r"(pointer));
  return pointer;
}

inline void stop_for_tracer() {
  asm volatile("int3" : : : "memory");
}

inline constexpr std::uint64_t address_end = 0x7fff'ffff'f000;

inline std::uint64_t clock_ticks() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (std::uint64_t{high} << 32) | low;
}

inline void fetch_for_writing(const std::byte* line) {
  asm volatile("prefetchw %0" : : "m"(*line));
}

}  // namespace tracer::arch
