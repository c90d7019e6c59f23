// Where calling conventions put structures that are passed by value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/abi.h"
#include "spec/value_class.h"

namespace tracer::arch {

struct Passing {
  enum class How : std::uint8_t {
    in_registers,
    in_x87,      ///< a result, in st(0) and, of two pieces, st(1)
    in_memory,   ///< an argument: on the stack; a result: where the caller has said
    by_address,  ///< an argument: of a copy of it
  };
  /// What one register has of it.
  struct Piece {
    bool is_vector = false;
    std::uint32_t offset = 0;  ///< bytes, as `size`
    std::uint32_t size = 0;
  };
  How how = How::in_registers;
  std::vector<Piece> pieces = {};
  bool starts_even = false;        ///< the first integer register has an even number
  bool uses_up_registers = false;  ///< once one does not fit, what follows gets none of its kind either
  bool tells_place = false;        ///< of a result in memory: its address comes as a first argument, and comes back

  [[nodiscard]] unsigned count(bool vectors) const {
    unsigned result = 0;
    for (const Piece& piece : pieces) {
      result += piece.is_vector == vectors ? 1 : 0;
    }
    return result;
  }
};

/// `value` is of class `structure`.
Passing passing_of_argument(Abi abi, const spec::PassedValue& value);
Passing passing_of_result(Abi abi, const spec::PassedValue& value);

}  // namespace tracer::arch
