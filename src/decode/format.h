// The arguments that a format of printf(3) or scanf(3) asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spec/spec.h"
#include "spec/value_class.h"

namespace tracer::decode {

struct FormatArgument {
  enum class Kind : std::uint8_t {
    scalar,     ///< `type`
    text,       ///< a pointer to bytes up to a NUL
    wide_text,  ///< a pointer to wide characters up to a zero
    count,      ///< %n: a pointer to where the function stores `type`
  };
  Kind kind = Kind::scalar;
  spec::ValueClass value_class = spec::ValueClass::integer;
  spec::Type type;                        ///< of a scalar, or of what scanf stores
  bool stored = false;                    ///< scanf: the argument points to where the value is stored
  std::optional<std::uint32_t> limit;     ///< text: at most so many bytes, or characters, are looked at (%.5s)
  std::optional<std::size_t> limit_from;  ///< … or as many as this argument says (%.*s)
  bool is_allocated = false;              ///< scanf's `m`: stores a pointer to the text
};

/// The format is the tracee's and may be anything: what is no conversion asks for nothing, and there are never more
/// than `most` arguments. Numbered ones (%2$d) come in the order of their numbers.
std::vector<FormatArgument> printf_arguments(std::span<const std::byte> format, Abi abi, std::size_t most);
std::vector<FormatArgument> scanf_arguments(std::span<const std::byte> format, Abi abi, std::size_t most);

}  // namespace tracer::decode
