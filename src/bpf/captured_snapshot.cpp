#include "bpf/captured_snapshot.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <string_view>

#include "bpf/captured_path.h"
#include "bpf/names.h"
#include "bpf/tracing.h"
#include "capture/chunks.h"

namespace tracer::bpf {
namespace {

constexpr std::uint32_t pidfd_magic = 0x50494446;  // of linux/magic.h, where that is new enough
constexpr std::uint32_t dma_buffer_magic = 0x444d4142;
constexpr unsigned semaphore = 1;  // EFD_SEMAPHORE
const trace::TaskState unknown_state;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <std::size_t Size>
std::string text_of(const std::uint8_t (&bytes)[Size], std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), std::min(size, Size)};
}

/// What the kernel reports of one descriptor.
struct Reported {
  CapturedPath path;
  std::string name;  ///< the innermost of the path, and the only one of what is made up
  std::optional<descriptor_facts> facts;
  std::optional<socket_facts> socket;
};

/// The text that the file's system makes up (d_path), without its mark of a deleted file; empty: unknown.
std::string made_up_link(const Reported& reported, bool& deleted) {
  const descriptor_facts& facts = *reported.facts;
  switch (facts.system) {
    case PIPEFS_MAGIC:
      return fmt::format("pipe:[{}]", facts.inode);
    case SOCKFS_MAGIC:
      return fmt::format("socket:[{}]", facts.inode);
    case NSFS_MAGIC:
      return reported.name.empty() ? std::string{} : fmt::format("{}:[{}]", reported.name, facts.inode);
    case ANON_INODE_FS_MAGIC:
      return "anon_inode:" + reported.name;
    case pidfd_magic:
      return "anon_inode:[pidfd]";
    case dma_buffer_magic:
      return {};
    default:  // memfd_create and its like
      deleted = true;
      return "/" + reported.name;
  }
}

std::optional<trace::SocketEndpoint> endpoint(bool is_v6, std::uint16_t port, const std::uint8_t (&address)[16]) {
  if (port == 0) {
    return std::nullopt;
  }
  trace::SocketEndpoint result;
  result.is_v6 = is_v6;
  result.port = port;
  std::memcpy(result.address.data(), address, sizeof address);
  return result;
}

trace::SocketFacts socket_of(const Reported& reported) {
  const socket_facts& facts = *reported.socket;
  trace::SocketFacts result;
  result.protocol = reported.name;
  result.inode = reported.facts->inode;
  if (facts.family == AF_INET || facts.family == AF_INET6) {
    const bool is_v6 = facts.family == AF_INET6;
    result.local = endpoint(is_v6, facts.local_port, facts.local);
    result.remote = endpoint(is_v6, facts.remote_port, facts.remote);
    if (result.protocol.starts_with("TCP") && facts.state == TCP_CLOSE) {
      result.remote.reset();
    }
  } else if (facts.family == AF_UNIX) {
    result.peer = facts.peer;
    result.name = text_of(facts.name, facts.name_size);
  } else if (facts.family == AF_NETLINK) {
    result.netlink_family = facts.protocol;
    result.port_id = facts.port_id;
  }
  return result;
}

std::optional<trace::DeviceNumber> device_of(std::uint32_t mode, std::uint32_t device) {
  constexpr unsigned minor_bits = 20;
  return S_ISCHR(mode) || S_ISBLK(mode) ? std::optional(trace::DeviceNumber{S_ISBLK(mode), device >> minor_bits,
                                                                            device & ((1U << minor_bits) - 1)})
                                        : std::nullopt;
}

std::optional<trace::OpenFile> file_of(const Reported& reported) {
  if (!reported.facts) {
    return std::nullopt;
  }
  const descriptor_facts& facts = *reported.facts;
  trace::OpenFile file;
  if (facts.made_up != 0) {
    file.link = made_up_link(reported, file.deleted);
  } else if (facts.path.ending == path_at_root || facts.path.ending == path_at_top) {
    file.link = reported.path.text();
    file.deleted = facts.path.deleted != 0;
  }
  // A longer one has no link.
  constexpr std::size_t mark = std::string_view(" (deleted)").size();
  if (file.link.empty() || file.link.size() + (file.deleted ? mark : 0) >= PATH_MAX) {
    return std::nullopt;
  }
  file.device = device_of(facts.mode, facts.device);
  if (file.device && file.device->is_terminal_multiplexer() && facts.detail[0] != 0) {
    file.terminal = static_cast<std::uint32_t>(facts.detail[0] - 1);
  }
  if (reported.socket) {
    file.socket = socket_of(reported);
  } else if (file.link == "anon_inode:[pidfd]") {
    file.process = {static_cast<std::int32_t>(facts.detail[0]), command_of(&facts.detail[1])};
  } else if (file.link == "anon_inode:[eventfd]") {
    file.counter = {facts.detail[0], static_cast<std::uint32_t>(facts.detail[1]), (facts.detail[2] & semaphore) != 0};
  } else if (file.link == "anon_inode:[signalfd]") {
    file.signals = ~facts.detail[0];
  }
  return file;
}

/// The first that an area reports of `number`.
Reported find(std::span<const std::byte> area, std::uint64_t number) {
  Reported reported;
  capture::for_each_chunk<trace_chunk>(area, [&](const trace_chunk& chunk, std::span<const std::byte> bytes) {
    if (chunk.kind == chunk_name && chunk.address == (names_of_descriptor | number) && !reported.facts) {
      reported.path.add(text_of(bytes));
      if (reported.name.empty()) {
        reported.name = text_of(bytes);
      }
    } else if (chunk.kind == chunk_descriptor && chunk.address == number && !reported.facts) {
      reported.facts = capture::chunk_as<descriptor_facts>(bytes);
    } else if (chunk.kind == chunk_socket && chunk.address == number && !reported.socket) {
      reported.socket = capture::chunk_as<socket_facts>(bytes);
    }
  });
  return reported;
}

}  // namespace

std::string command_of(const __u64* words) {
  const auto* text = reinterpret_cast<const char*>(words);
  return {text, ::strnlen(text, comm_size)};
}

std::optional<trace::OpenFile> CapturedSnapshot::descriptor(std::int32_t fd) const {
  return named(static_cast<std::uint32_t>(fd));
}

std::optional<trace::OpenFile> CapturedSnapshot::descriptor_behind(std::int32_t fd) const {
  return named(behind_pidfd | static_cast<std::uint32_t>(fd));
}

std::optional<trace::OpenFile> CapturedSnapshot::named(std::uint64_t number) const {
  for (const Area area : areas_) {
    const Reported reported = find(area, number);
    if (reported.facts) {
      return file_of(reported);
    }
  }
  return std::nullopt;
}

std::optional<trace::OpenFile> CapturedSnapshot::working_directory() const {
  return descriptor(AT_FDCWD);
}

std::int32_t CapturedSnapshot::netlink_protocol(std::int32_t fd) const {
  const auto found = capture::find_by_key<trace_chunk>(areas_, chunk_netlink, fd);
  return found ? capture::chunk_as<std::int32_t>(*found) : -1;
}

std::optional<trace::FileKind> CapturedSnapshot::file_kind(std::int32_t fd) const {
  const auto found = capture::find_by_key<trace_chunk>(areas_, chunk_file_kind, fd);
  if (!found) {
    return trace::FileKind();
  }
  const auto facts = capture::chunk_as<file_kind_facts>(*found);
  const auto* name = reinterpret_cast<const char*>(facts.name);
  trace::FileKind kind{device_of(facts.mode, facts.device), {}, {}, {}};
  auto& of_kind = S_ISSOCK(facts.mode) ? kind.protocol : kind.system;
  if (S_ISSOCK(facts.mode) || S_ISREG(facts.mode) || S_ISDIR(facts.mode)) {
    of_kind.assign(name, ::strnlen(name, sizeof facts.name));
  }
  return kind;
}

std::optional<trace::TaskSnapshot::Process> CapturedSnapshot::process(std::int32_t id) const {
  const auto found = capture::find_by_key<trace_chunk>(areas_, chunk_named_process, id);
  if (!found) {
    return std::nullopt;
  }
  const auto name = capture::chunk_as<process_name>(*found);
  if (name.is_thread == 0 && name.is_group == 0) {
    return std::nullopt;
  }
  return Process{static_cast<std::int32_t>(name.here), name.is_thread != 0, name.is_group != 0, command_of(name.comm)};
}

std::optional<std::string> CapturedSnapshot::command(std::int32_t tid) const {
  if (commands_ != nullptr) {
    if (const auto known = commands_->find(tid); known != commands_->end()) {
      return known->second;
    }
  }
  return std::nullopt;
}

const trace::TaskState& CapturedSnapshot::state() const {
  return state_ != nullptr ? *state_ : unknown_state;
}

}  // namespace tracer::bpf
