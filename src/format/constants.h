// Formats constants: members of an enumeration, and words of flags.
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

/// Appends a constant by its name in the set that `type` refers to. `bits` are truncated to the type's width.
void append_constant(TextBuffer& text, const spec::Tables& tables, const spec::Type& type, std::uint64_t bits, Abi abi,
                     ConstantForm form);

/// Returns the name of exactly this value in an enumeration or among the single flags of a flag set; empty if it has
/// none.
std::string_view constant_name(const spec::Tables& tables, spec::SetId set, std::uint64_t bits, Abi abi);

/// True if the set has a name for 0 (O_RDONLY, PROT_NONE).
bool has_name_for_zero(const spec::Tables& tables, spec::SetId set);

/// Truncates a 64-bit value to `width` bytes, then extends it to 64 bits again, with its sign if `is_signed`.
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
