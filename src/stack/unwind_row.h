// The unwind row of one address: how to compute the registers of the caller (DWARF 5, 6.4).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

#include "arch/frame_registers.h"
#include "trace/memory.h"

namespace tracer::stack {

/// How to recover a register of the caller (DWARF 5, 6.4.1).
struct Rule {
  enum class Kind : std::uint8_t {
    same,
    undefined,
    at_cfa,         ///< in memory, at CFA + offset
    cfa,            ///< CFA + offset itself
    other,          ///< register `other` + offset
    at_expression,  ///< in memory, at the value of the expression
    expression,     ///< the value of the expression itself
  };
  Kind kind = Kind::same;
  std::uint8_t number = 0;  ///< DWARF number of the register to recover
  std::uint8_t other = 0;
  std::int64_t offset = 0;
  std::vector<Dwarf_Op> expression;
};

struct Row {
  enum class Kind : std::uint8_t {
    none,       ///< there is no call frame information
    outermost,  ///< there is no caller
    frame,
  };
  Kind kind = Kind::none;
  bool signal = false;  ///< signal frame: the caller was interrupted, it did not make a call
  std::uint8_t return_address = 0;
  Rule cfa;
  std::uint64_t undefined = 0;  ///< bit N is set if register N cannot be recovered
  std::vector<Rule> rules;      ///< for the registers that have been saved
};

/// Reads a little-endian word of `size` bytes into `value`; false if it cannot be read.
bool read_word(const trace::Memory& memory, std::uint64_t address, unsigned size, std::uint64_t& value);

/// Replaces the registers by the caller's. Returns false if they cannot be recovered; then `registers` is unchanged.
bool apply(const Row& row, arch::FrameRegisters& registers, const trace::Memory& memory);

}  // namespace tracer::stack
