// How a calling convention sees a value that a function takes or returns.
#pragma once

#include <cstdint>

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
};

}  // namespace tracer::spec
