// Puts instructions together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tracer::arch {

/// Appends the bytes of `value`, a part of an instruction.
template <typename T>
void append(std::vector<std::byte>& code, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  code.insert(code.end(), bytes.begin(), bytes.end());
}

}  // namespace tracer::arch
