// The class that a calling convention assigns to an argument or result.
#pragma once

#include <cstdint>
#include <vector>

namespace tracer::spec {

/// A fetched value has 64 bits: an integer (bits above its width are ignored), a float in the low 32 bits, a
/// double, or the double nearest to a long double.
enum class ValueClass : std::uint8_t {
  nothing,    ///< void, or a value that is passed in a special way
  integer,    ///< up to the width of a register; pointers
  integer64,  ///< 8 bytes on every ABI
  single,     ///< float
  floating,   ///< double
  extended,   ///< long double
  structure,  ///< a structure or union by value: the words that hold its bytes
};

/// A scalar in a structure.
struct ValuePart {
  std::uint32_t offset = 0;  ///< in bytes, as all sizes here
  std::uint32_t size = 0;
  ValueClass value_class = ValueClass::integer;
};

/// A value that a function takes or returns.
struct PassedValue {
  ValueClass value_class = ValueClass::integer;
  // For a structure:
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
  bool is_complex = false;            ///< a complex number: two parts
  std::vector<ValuePart> parts = {};  ///< all of its scalars; empty if it is bigger than any register

  /// Returns the number of 64-bit words that hold it.
  [[nodiscard]] std::size_t words() const { return value_class == ValueClass::structure ? words_of(size) : 1; }
  static constexpr std::size_t words_of(std::uint64_t size) { return size <= 8 ? 1 : (size + 7) / 8; }
};

}  // namespace tracer::spec
