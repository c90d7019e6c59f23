#include "bpf/captured_memory.h"

#include <algorithm>
#include <cstring>

#include "bpf/tracing.h"

namespace tracer {

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
  for (Area rest : areas_) {
    Area best;
    trace_chunk chunk;
    while (rest.size() >= sizeof chunk) {
      std::memcpy(&chunk, rest.data(), sizeof chunk);
      rest = rest.subspan(sizeof chunk);
      const std::size_t size = std::min<std::size_t>(chunk.size, rest.size());
      const std::uint64_t skipped = address - chunk.address;
      if (address >= chunk.address && skipped < size && size - skipped > best.size()) {
        best = rest.subspan(skipped, size - skipped);
      }
      rest = rest.subspan(std::min<std::size_t>((size + 7) / 8 * 8, rest.size()));
    }
    if (!best.empty()) {
      return best;
    }
  }
  return {};
}

}  // namespace tracer
