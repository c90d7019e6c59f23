// Finds UTF-8 sequences (RFC 3629).
#pragma once

#include <cstddef>
#include <span>

namespace tracer {
inline namespace base {

/// Returns the length in bytes of a sequence with this lead byte; 0 if no sequence starts with it.
[[nodiscard]] std::size_t utf8_announced_length(std::byte first);

/// Returns the length in bytes of the valid sequence at the start of `text`; 0 if there is none. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::span<const std::byte> text);

}  // namespace base
}  // namespace tracer
