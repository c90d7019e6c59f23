// Chunks of a record: a front with `address`, `size` and `kind`, then as many bytes, filled up to eight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/remote_addr.h"

namespace tracer::capture {

/// Calls `look(const Chunk&, std::span<const std::byte>)` with each chunk and its bytes. Bounds hold whatever stands in
/// the area.
template <typename Chunk, typename Look>
void for_each_chunk(std::span<const std::byte> area, const Look& look) {
  Chunk chunk;
  while (area.size() >= sizeof chunk) {
    std::memcpy(&chunk, area.data(), sizeof chunk);
    area = area.subspan(sizeof chunk);
    const std::size_t size = std::min<std::size_t>(chunk.size, area.size());
    look(chunk, area.first(size));
    area = area.subspan(std::min<std::size_t>((size + 7) / 8 * 8, area.size()));
  }
}

/// Appends a chunk.
template <typename Chunk>
void append_chunk(std::vector<std::byte>& area, std::uint32_t kind, std::uint64_t address,
                  std::span<const std::byte> bytes) {
  Chunk chunk{};
  chunk.address = address;
  chunk.size = static_cast<std::uint32_t>(bytes.size());
  chunk.kind = kind;
  const auto front = std::as_bytes(std::span(&chunk, 1));
  area.insert(area.end(), front.begin(), front.end());
  area.insert(area.end(), bytes.begin(), bytes.end());
  area.resize((area.size() + 7) / 8 * 8);
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

/// Returns the bytes from `address` to the end of the longest chunk of this kind that has it, in the first area that
/// has one; empty if none has.
template <typename Chunk>
std::span<const std::byte> find_in_chunks(std::span<const std::span<const std::byte>> areas, std::uint32_t kind,
                                          std::uint64_t address) {
  std::span<const std::byte> best;
  for (const auto area : areas) {
    for_each_chunk<Chunk>(area, [&](const Chunk& chunk, std::span<const std::byte> bytes) {
      const std::uint64_t skipped = address - chunk.address;
      if (chunk.kind == kind && address >= chunk.address && skipped < bytes.size() &&
          bytes.size() - skipped > best.size()) {
        best = bytes.subspan(skipped);
      }
    });
    if (!best.empty()) {
      break;
    }
  }
  return best;
}

/// Returns the bytes of the first chunk of this kind in which `key`, a descriptor or an id, stands for the address.
template <typename Chunk>
std::optional<std::span<const std::byte>> find_by_key(std::span<const std::span<const std::byte>> areas,
                                                      std::uint32_t kind, std::int32_t key) {
  std::optional<std::span<const std::byte>> found;
  for (const auto area : areas) {
    for_each_chunk<Chunk>(area, [&](const Chunk& chunk, std::span<const std::byte> bytes) {
      if (!found && chunk.kind == kind && chunk.address == static_cast<std::uint32_t>(key)) {
        found = bytes;
      }
    });
  }
  return found;
}

/// Copies from chunks of this kind, which may follow one another, and returns how many bytes were there.
template <typename Chunk>
std::size_t read_chunks(std::span<const std::span<const std::byte>> areas, std::uint32_t kind, RemoteAddr address,
                        std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto found = find_in_chunks<Chunk>(areas, kind, address.value() + done);
    if (found.empty()) {
      break;
    }
    const std::size_t part = std::min(found.size(), into.size() - done);
    std::memcpy(into.data() + done, found.data(), part);
    done += part;
  }
  return done;
}

}  // namespace tracer::capture
