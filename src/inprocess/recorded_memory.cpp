#include "inprocess/recorded_memory.h"

#include <fcntl.h>

#include <cstring>

#include "capture/chunks.h"
#include "inprocess/layout.h"

namespace tracer::inprocess {
namespace {

const trace::TaskState unknown_state;

/// Up to a NUL, which nothing that the kernel has put there has within.
std::string text_of(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return {text, ::strnlen(text, bytes.size())};
}

std::optional<Device> device_in(std::span<const RecordedMemory::Area> areas, std::int32_t fd) {
  const auto found = capture::find_by_key<Chunk>(areas, chunk_device, fd);
  return found ? std::optional(capture::chunk_as<Device>(*found)) : std::nullopt;
}

std::optional<trace::DeviceNumber> number_of(const std::optional<Device>& device) {
  return device ? std::optional(trace::DeviceNumber{device->is_block != 0, device->major, device->minor})
                : std::nullopt;
}

}  // namespace

std::size_t RecordedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  return capture::read_chunks<Chunk>(areas_, chunk_memory, address, into);
}

std::int32_t RecordedMemory::netlink_protocol(std::int32_t fd) const {
  const auto found = capture::find_by_key<Chunk>(areas_, chunk_netlink, fd);
  return found && found->size() >= sizeof(std::int32_t) ? capture::chunk_as<std::int32_t>(*found) : -1;
}

std::optional<trace::FileKind> RecordedMemory::file_kind(std::int32_t fd) const {
  trace::FileKind kind;
  kind.device = number_of(device_in(areas_, fd));
  return kind;
}

std::optional<trace::OpenFile> RecordedMemory::descriptor(std::int32_t fd) const {
  for (const Area& area : areas_) {
    const std::span one(&area, 1);
    for (const ChunkKind kind : {chunk_link, chunk_deleted_link}) {
      if (const auto found = capture::find_by_key<Chunk>(one, kind, fd)) {
        trace::OpenFile file;
        file.link = text_of(*found);
        file.deleted = kind == chunk_deleted_link;
        const auto device = device_in(one, fd);
        file.device = number_of(device);
        if (device && device->terminal != 0) {
          file.terminal = device->terminal - 1;
        }
        return file.link.empty() ? std::nullopt : std::optional(std::move(file));
      }
    }
  }
  return std::nullopt;
}

std::optional<trace::OpenFile> RecordedMemory::working_directory() const {
  return descriptor(AT_FDCWD);
}

const trace::TaskState& RecordedMemory::state() const {
  return unknown_state;
}

std::optional<std::string> RecordedMemory::command(std::int32_t tid) const {
  const auto found = tid == tid_ ? capture::find_by_key<Chunk>(areas_, chunk_command, 0) : std::nullopt;
  return found ? std::optional(text_of(*found)) : std::nullopt;
}

}  // namespace tracer::inprocess
