// Arguments of static probes, as notes of sys/sdt.h say where they are. Text of the tracee's file: bounded, and what
// cannot be read is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/abi.h"

namespace tracer::library {

/// Where one argument is.
struct ProbeArgument {
  enum class Where : std::uint8_t {
    unknown,   ///< in a form that is not understood
    constant,  ///< `displacement`
    in_register,
    in_memory,  ///< at base + index * scale + displacement, or at a symbol
  };
  /// What is done to an index register before it is scaled.
  enum class Extend : std::uint8_t { none, sxtw, uxtw };

  Where where = Where::unknown;
  unsigned size = 8;  ///< bytes
  bool is_signed = false;
  bool is_floating = false;
  std::string base;   ///< register; empty: none
  std::string index;  ///< register; empty: none
  std::string segment;
  std::string symbol;      ///< whose address is added
  bool in_module = false;  ///< `displacement` is an address before relocation
  Extend extend = Extend::none;
  unsigned scale = 1;
  std::int64_t displacement = 0;
};

/// `8@%rdi -4@-20(%rbp)`, `8@x0 4@[sp, 12]`: in the syntax of the processor's assembler. At most 12, as sys/sdt.h has.
std::vector<ProbeArgument> parse_probe_arguments(std::string_view text, Abi abi);

}  // namespace tracer::library
