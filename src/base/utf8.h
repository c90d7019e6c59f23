// Characters of UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <span>

namespace tracer {
inline namespace base {

/// Bytes of the sequence that `first` begins, if all of them follow; 0 if none begins so.
[[nodiscard]] std::size_t utf8_announced_length(std::byte first);

/// Bytes of the valid sequence at the start of `text`, which is not empty; 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::span<const std::byte> text);

}  // namespace base
}  // namespace tracer
