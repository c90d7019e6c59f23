// How a calling convention sees a value that a function takes or returns.
#pragma once

#include <cstdint>
#include <vector>

namespace tracer::spec {

/// Whoever fetches a value gives it as 64 bits: an integer as it is (the bits above its width do not matter), a float
/// in the low 32 bits, a double, and a long double as the nearest double.
enum class ValueClass : std::uint8_t {
  nothing,    ///< void, or a value that is passed in a way of its own
  integer,    ///< up to the width of a register; pointers
  integer64,  ///< 8 bytes on every ABI
  single,     ///< float
  floating,   ///< double
  extended,   ///< long double
  structure,  ///< or a union, itself and not its address: as many words as hold its bytes
};

/// A scalar in a structure.
struct ValuePart {
  std::uint32_t offset = 0;  ///< bytes, as are all sizes here
  std::uint32_t size = 0;
  ValueClass value_class = ValueClass::integer;
};

/// A value that a function takes or returns.
struct PassedValue {
  ValueClass value_class = ValueClass::integer;
  // Of a structure:
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
  bool is_complex = false;            ///< a complex number: two parts
  std::vector<ValuePart> parts = {};  ///< all of its scalars; none if it is bigger than any register can take

  /// As many values of 64 bits hold it.
  [[nodiscard]] std::size_t words() const { return value_class == ValueClass::structure ? words_of(size) : 1; }
  static constexpr std::size_t words_of(std::uint64_t size) { return size <= 8 ? 1 : (size + 7) / 8; }
};

}  // namespace tracer::spec
