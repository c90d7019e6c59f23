// The spelling of constants: the names of an enumeration, the members of a flag set.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "spec/spec.h"

namespace tracer::format {

/// -X: how constants are shown.
enum class ConstantForm : std::uint8_t {
  raw,         ///< 0x241
  abbreviate,  ///< O_WRONLY|O_CREAT|O_TRUNC
  verbose,     ///< 0x241 /* O_WRONLY|O_CREAT|O_TRUNC */
};

/// The value of a constant, spelled by the set that its type names. `bits` are cut to the type's width.
void append_constant(TextBuffer& text, const spec::Tables& tables, const spec::Type& type, std::uint64_t bits, Abi abi,
                     ConstantForm form);

/// The name for exactly this value, or empty: of an enumeration's members, or of a flag set's plain ones.
std::string_view constant_name(const spec::Tables& tables, spec::SetId set, std::uint64_t bits, Abi abi);

/// Whether a flag set has something to say about 0 (O_RDONLY, PROT_NONE).
bool has_name_for_zero(const spec::Tables& tables, spec::SetId set);

/// Cuts a 64-bit value to the width of a type (0: the word of the ABI) and extends it again as the type says.
inline std::uint64_t cut(std::uint64_t bits, unsigned width, bool is_signed) {
  if (width >= 8) {
    return bits;
  }
  const unsigned unused = 64 - 8 * width;
  if (is_signed) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return bits << unused >> unused;
}

}  // namespace tracer::format
