// Strings of wchar_t, as UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "trace/memory.h"

namespace tracer::decode {

/// No more characters than these are shown of any.
inline constexpr std::size_t most_wide_characters = 4096;

struct WideText {
  std::size_t size = 0;  ///< in bytes of UTF-8
  bool is_cut = true;    ///< there is more of it, or it cannot be read on
};

/// Writes the characters of `width` bytes (2, 4 or 8) at `address` up to a zero to `into`, of which each may take four
/// bytes, and looks at one more than finds room, but at `most` of them only. Empty if not even the first can be read.
std::optional<WideText> read_wide_text(const trace::Memory& memory, RemoteAddr address, std::uint64_t most,
                                       std::span<std::byte> into, unsigned width = 4);

}  // namespace tracer::decode
