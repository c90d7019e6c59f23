#include "inprocess/recorded_memory.h"

#include <algorithm>
#include <cstring>

#include "inprocess/layout.h"

namespace tracer::inprocess {

std::size_t RecordedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const Area found = find(chunk_memory, address.value() + done);
    if (found.empty()) {
      break;
    }
    const std::size_t part = std::min(found.size(), into.size() - done);
    std::memcpy(into.data() + done, found.data(), part);
    done += part;
  }
  return done;
}

std::int32_t RecordedMemory::netlink_protocol(std::int32_t fd) const {
  std::int32_t protocol = -1;
  const Area found = find(chunk_netlink, static_cast<std::uint32_t>(fd));
  std::memcpy(&protocol, found.data(), found.size() >= sizeof protocol ? sizeof protocol : 0);
  return protocol;
}

RecordedMemory::Area RecordedMemory::find(std::uint32_t kind, std::uint64_t address) const {
  for (Area area : areas_) {
    Area best;
    Chunk chunk;
    while (area.size() >= sizeof chunk) {
      std::memcpy(&chunk, area.data(), sizeof chunk);
      area = area.subspan(sizeof chunk);
      const Area bytes = area.first(std::min<std::size_t>(chunk.size, area.size()));
      const std::uint64_t skipped = address - chunk.address;
      if (chunk.kind == kind && address >= chunk.address && skipped < bytes.size() &&
          bytes.size() - skipped > best.size()) {
        best = bytes.subspan(skipped);
      }
      area = area.subspan(std::min<std::size_t>((bytes.size() + 7) / 8 * 8, area.size()));
    }
    if (!best.empty()) {
      return best;
    }
  }
  return {};
}

}  // namespace tracer::inprocess
