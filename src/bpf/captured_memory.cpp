#include "bpf/captured_memory.h"

#include <algorithm>
#include <cstring>

#include "bpf/chunks.h"

namespace tracer::bpf {

std::size_t CapturedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const Area found = find(address.value() + done);
    if (found.empty()) {
      break;
    }
    const std::size_t part = std::min(found.size(), into.size() - done);
    std::memcpy(into.data() + done, found.data(), part);
    done += part;
  }
  return done;
}

CapturedMemory::Area CapturedMemory::find(std::uint64_t address) const {
  for (const Area area : areas_) {
    Area best;
    for_each_chunk(area, [&best, address](const trace_chunk& chunk, Area bytes) {
      const std::uint64_t skipped = address - chunk.address;
      if (chunk.kind == chunk_memory && address >= chunk.address && skipped < bytes.size() &&
          bytes.size() - skipped > best.size()) {
        best = bytes.subspan(skipped);
      }
    });
    if (!best.empty()) {
      return best;
    }
  }
  return {};
}

}  // namespace tracer::bpf
