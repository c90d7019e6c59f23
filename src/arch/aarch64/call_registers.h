// See arch/call_registers.h. No recorder is there for this processor.
#pragma once

#include <array>
#include <cstdint>

namespace tracer::arch {

struct CallRegisters {
  std::array<std::uint64_t, 31> general;  ///< x0 to x30
  std::uint64_t flags;                    ///< NZCV, as in PSTATE
  std::uint64_t stack_pointer;
  std::uint64_t behind_call;
};

struct EntryLabels {};
struct FunctionLabels {};
struct FunctionScratch {};

inline std::uint64_t clock_ticks() {
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

}  // namespace tracer::arch
