// Finds and makes UTF-8 sequences (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {
inline namespace base {

/// Returns the length in bytes of a sequence with this lead byte; 0 if no sequence starts with it.
[[nodiscard]] std::size_t utf8_announced_length(std::byte first);

/// Returns the length in bytes of the valid sequence at the start of `text`; 0 if there is none. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::span<const std::byte> text);

inline constexpr std::size_t longest_utf8 = 4;  ///< of a character, in bytes

/// Writes a character and returns its length in bytes; what is no character becomes U+FFFD.
std::size_t utf8_encode(std::uint32_t character, std::span<std::byte, longest_utf8> into);

}  // namespace base
}  // namespace tracer
