#include "inprocess/recorded_memory.h"

#include <sys/stat.h>

#include <cstring>

#include "capture/chunks.h"
#include "inprocess/layout.h"

namespace tracer::inprocess {

std::size_t RecordedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  return capture::read_chunks<Chunk>(areas_, chunk_memory, address, into);
}

std::int32_t RecordedMemory::netlink_protocol(std::int32_t fd) const {
  std::int32_t protocol = -1;
  const Area found = capture::find_in_chunks<Chunk>(areas_, chunk_netlink, static_cast<std::uint32_t>(fd));
  std::memcpy(&protocol, found.data(), found.size() >= sizeof protocol ? sizeof protocol : 0);
  return protocol;
}

std::optional<trace::FileKind> RecordedMemory::file_kind(std::int32_t fd) const {
  trace::FileKind kind;
  const Area found = capture::find_in_chunks<Chunk>(areas_, chunk_device, static_cast<std::uint32_t>(fd));
  if (!found.empty()) {
    const auto device = capture::chunk_as<Device>(found);
    kind.device = trace::DeviceNumber{S_ISBLK(device.mode), device.major, device.minor};
  }
  return kind;
}

}  // namespace tracer::inprocess
