// Reads a word from a tracee's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/remote_addr.h"
#include "trace/memory.h"

namespace tracer::arch {

/// Reads a little-endian number of `size` bytes, 8 at most; empty if the memory cannot be read.
inline std::optional<std::uint64_t> load(const trace::Memory& memory, std::uint64_t address, std::size_t size) {
  std::uint64_t value = 0;
  if (memory.read(RemoteAddr(address), std::as_writable_bytes(std::span(&value, 1)).first(size)) != size) {
    return std::nullopt;
  }
  return value;
}

}  // namespace tracer::arch
