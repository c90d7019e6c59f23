// Parses the locations of static probes' arguments in SystemTap SDT notes (sys/sdt.h). The text is that of the tracee's
// file: it is bounded, and an argument that cannot be parsed is `unknown`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/abi.h"

namespace tracer::functions::library {

/// The location and the type of one argument.
struct ProbeArgument {
  enum class Where : std::uint8_t {
    unknown,   ///< the text could not be parsed
    constant,  ///< `displacement`
    in_register,
    in_memory,  ///< at base + index * scale + displacement, plus the address of a symbol
  };
  /// How a 32-bit index register is extended before it is scaled.
  enum class Extend : std::uint8_t { none, sxtw, uxtw };

  Where where = Where::unknown;
  unsigned size = 8;  ///< bytes
  bool is_signed = false;
  bool is_floating = false;
  std::string base;   ///< register; empty if there is none
  std::string index;  ///< register; empty if there is none
  std::string segment;
  std::string symbol;      ///< its address is added
  bool in_module = false;  ///< `displacement` is an address in the file, to which the load bias is added
  Extend extend = Extend::none;
  unsigned scale = 1;
  std::int64_t displacement = 0;
};

/// Parses arguments in the syntax of the processor's assembler, such as `8@%rdi -4@-20(%rbp)` or `8@x0 4@[sp, 12]`.
/// Returns at most 12, the limit of sys/sdt.h.
std::vector<ProbeArgument> parse_probe_arguments(std::string_view text, Abi abi);

}  // namespace tracer::functions::library
