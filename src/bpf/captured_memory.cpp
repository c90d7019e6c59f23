#include "bpf/captured_memory.h"

#include <algorithm>
#include <cstring>

#include "bpf/chunks.h"

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

std::optional<std::int32_t> CapturedMemory::netlink_protocol(std::int32_t fd) const {
  std::int32_t protocol = -1;
  for (const Area area : areas_) {
    for_each_chunk(area, [&protocol, fd](const trace_chunk& chunk, Area bytes) {
      if (chunk.kind == chunk_netlink && chunk.address == static_cast<std::uint32_t>(fd) &&
          bytes.size() >= sizeof protocol) {
        std::memcpy(&protocol, bytes.data(), sizeof protocol);
      }
    });
  }
  return protocol;
}

}  // namespace tracer
