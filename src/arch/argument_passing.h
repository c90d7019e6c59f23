// How calling conventions pass and return structures by value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/abi.h"
#include "spec/value_class.h"

namespace tracer::arch {

struct Passing {
  enum class How : std::uint8_t {
    in_registers,
    in_x87,      ///< results only: in st(0), and in st(1) if there are two pieces
    in_memory,   ///< arguments: on the stack; results: in memory that the caller provides
    by_address,  ///< arguments only: as the address of a copy
  };
  /// The part of the structure in one register.
  struct Piece {
    bool is_vector = false;
    std::uint32_t offset = 0;  ///< in the structure, in bytes
    std::uint32_t size = 0;    ///< bytes
  };
  How how = How::in_registers;
  std::vector<Piece> pieces = {};
  bool starts_even = false;        ///< the first integer register has an even number
  bool uses_up_registers = false;  ///< if it does not fit, later arguments get no registers of that kind either
  bool hidden_pointer = false;     ///< the address of a result in memory is a hidden first argument, and is returned

  [[nodiscard]] unsigned count(bool vectors) const {
    unsigned result = 0;
    for (const Piece& piece : pieces) {
      result += piece.is_vector == vectors ? 1 : 0;
    }
    return result;
  }
};

/// The class of `value` must be ValueClass::structure.
Passing passing_of_argument(Abi abi, const spec::PassedValue& value);
Passing passing_of_result(Abi abi, const spec::PassedValue& value);

}  // namespace tracer::arch
