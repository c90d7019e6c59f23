#include "inprocess/recorded_memory.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "capture/chunks.h"
#include "inprocess/layout.h"

namespace tracer::inprocess {

std::size_t RecordedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  return capture::read_chunks<Chunk>(areas_, chunk_memory, address, into);
}

std::int32_t RecordedMemory::netlink_protocol(std::int32_t fd) const {
  const auto found = capture::find_by_key<Chunk>(areas_, chunk_netlink, fd);
  return found && found->size() >= sizeof(std::int32_t) ? capture::chunk_as<std::int32_t>(*found) : -1;
}

std::optional<trace::FileKind> RecordedMemory::file_kind(std::int32_t fd) const {
  trace::FileKind kind;
  if (const auto found = capture::find_by_key<Chunk>(areas_, chunk_device, fd)) {
    const auto device = capture::chunk_as<Device>(*found);
    kind.device = trace::DeviceNumber{S_ISBLK(device.mode), major(device.number), minor(device.number)};
  }
  return kind;
}

}  // namespace tracer::inprocess
