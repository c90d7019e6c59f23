// The open files behind descriptors, from /proc.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "names/name_options.h"
#include "names/socket_names.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

class OpenFiles {
 public:
  explicit OpenFiles(const NameOptions& wanted) : wanted_(wanted) {}

  /// Returns what the options ask for; nothing if there is no such descriptor.
  [[nodiscard]] std::optional<trace::OpenFile> file(std::int32_t tid, std::int32_t fd);
  /// Returns the process behind a pidfd; its id is -1 if the descriptor is not a pidfd.
  [[nodiscard]] trace::PidfdProcess process(std::int32_t tid, std::int32_t fd) const;
  /// Returns the kind of a descriptor's file; an empty one if there is no such descriptor.
  [[nodiscard]] static trace::FileKind kind(std::int32_t tid, std::int32_t fd);
  /// Returns the number of the device behind a descriptor; nothing if it is none.
  [[nodiscard]] static std::optional<trace::DeviceNumber> device(std::int32_t tid, std::int32_t fd);
  /// Returns the protocol of a netlink socket, -1 for any other descriptor.
  [[nodiscard]] std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd);
  /// Removes from a captured counter what the fdinfo of this kernel does not have.
  [[nodiscard]] trace::EventCounter as_fdinfo_has_it(trace::EventCounter counter);

 private:
  [[nodiscard]] bool is_deleted(std::int32_t tid, std::int32_t fd, const std::string& link);
  /// Returns the type of the file system of a descriptor's file; empty if its mount is internal to the kernel.
  [[nodiscard]] std::string file_system(std::int32_t tid, std::int32_t fd, const struct statx& status);

  NameOptions wanted_;
  SocketNames sockets_;
  std::unordered_map<std::uint64_t, std::string> file_systems_;  ///< by the ids of mounts that are never used again
  std::optional<trace::EventCounter> fdinfo_;                    ///< of an eventfd of the tracer; empty: not read yet
};

}  // namespace tracer::names
