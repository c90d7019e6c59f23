// The chunks behind the front of a record. Private to this directory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "bpf/tracing.h"

namespace tracer::bpf {

/// Calls `look(const trace_chunk&, std::span<const std::byte>)` with each chunk and its bytes.
template <typename Look>
void for_each_chunk(std::span<const std::byte> area, const Look& look) {
  trace_chunk chunk;
  while (area.size() >= sizeof chunk) {
    std::memcpy(&chunk, area.data(), sizeof chunk);
    area = area.subspan(sizeof chunk);
    const std::size_t size = std::min<std::size_t>(chunk.size, area.size());
    look(chunk, area.first(size));
    area = area.subspan(std::min<std::size_t>((size + 7) / 8 * 8, area.size()));
  }
}

/// The front of a chunk's bytes as what its kind says it is; zeros where they are fewer.
template <typename T>
T chunk_as(std::span<const std::byte> bytes) {
  T value{};
  if (!bytes.empty()) {
    std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  }
  return value;
}

}  // namespace tracer::bpf
