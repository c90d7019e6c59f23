// See arch/call_registers.h.
#pragma once

#include <asm/ptrace.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer::arch {

struct CallRegisters {
  std::array<std::uint64_t, 31> general;  ///< x0 to x30
  std::uint64_t flags;                    ///< NZCV, as in PSTATE
  std::uint64_t stack_pointer;
  std::uint64_t behind_call;
  std::uint64_t stub_exit;  ///< where the stub goes on after the call
};

using StoredRegisters = user_pt_regs;

inline StoredRegisters registers_at_call(const CallRegisters& program, std::uint64_t) {
  StoredRegisters set{};
  std::copy(program.general.begin(), program.general.end(), set.regs);
  set.sp = program.stack_pointer;
  set.pc = program.behind_call;
  set.pstate = program.flags;
  return set;
}

struct EntryLabels {
  std::uint64_t
      kept;  ///< x14 and x15 are below the program's stack pointer, as x16 and x17 are from before the entry on
  std::uint64_t leave;  ///< all but x16 and x17 are the program's again
};

/// Of 48 bits. Pointers with a tag in their upper bits are beyond.
inline constexpr std::uint64_t address_end = std::uint64_t{1} << 48;

inline std::uint64_t clock_ticks() {
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

inline void fetch_for_writing(const std::byte* line) {
  asm volatile("prfm pstl1keep, %0" : : "Q"(*line));
}

}  // namespace tracer::arch
