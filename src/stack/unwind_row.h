// How to get from the registers of one frame to those of its caller, at one place of the code.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

#include "arch/frame_registers.h"
#include "trace/memory.h"

namespace tracer::stack {

/// Where a register's value in the caller is found (DWARF 5, 6.4.1).
struct Rule {
  enum class Kind : std::uint8_t {
    same,
    undefined,
    at_cfa,         ///< in memory, at CFA + offset
    cfa,            ///< CFA + offset itself
    other,          ///< register `other` + offset
    at_expression,  ///< in memory, where the expression says
    expression,     ///< what the expression says
  };
  Kind kind = Kind::same;
  std::uint8_t number = 0;  ///< register that the rule is for
  std::uint8_t other = 0;
  std::int64_t offset = 0;
  std::vector<Dwarf_Op> expression;
};

struct Row {
  enum class Kind : std::uint8_t {
    none,       ///< nothing is known here
    outermost,  ///< no caller
    frame,
  };
  Kind kind = Kind::none;
  bool signal = false;  ///< the caller was interrupted here, not calling
  std::uint8_t return_address = 0;
  Rule cfa;
  std::uint64_t lost = 0;   ///< bit N: what register N had is not known any more
  std::vector<Rule> rules;  ///< of the registers that have been saved
};

/// A word of `registers.word_size`, if it can be read.
bool read_word(const trace::Memory& memory, std::uint64_t address, unsigned size, std::uint64_t& value);

/// Turns the registers into the caller's. False if that cannot be done; they are undefined then.
bool apply(const Row& row, arch::FrameRegisters& registers, const trace::Memory& memory);

}  // namespace tracer::stack
