// What descriptors stand for, by a snapshot or else by /proc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/text_buffer.h"
#include "names/name_options.h"
#include "names/names.h"
#include "names/open_files.h"
#include "names/pid_namespaces.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

/// The addresses that sockets were last seen with. The kernel forgets those of a TCP connection when it ends, before
/// its descriptors are closed. Sockets of one inode number are one socket: such a number is not used again for a long
/// time.
class LastAddresses {
 public:
  /// Remembers the addresses of an internet socket, or gives it those that it had.
  void complete(trace::SocketFacts& socket);

 private:
  struct Seen {
    std::uint64_t inode = 0;
    std::optional<trace::SocketEndpoint> local;
    std::optional<trace::SocketEndpoint> remote;
  };
  std::array<Seen, 256> seen_{};  ///< by inode number; the last one has the place
};

class ProcDescriptorNames final : public DescriptorNames {
 public:
  /// `pids` outlives this.
  ProcDescriptorNames(const NameOptions& options, PidNamespaces& pids)
      : options_(options), files_(options), pids_(pids) {}

  [[nodiscard]] bool names_descriptors() const override { return options_.any_descriptors(); }
  DescriptorName descriptor(const Task& task, std::int32_t fd) override;
  DescriptorName descriptor_behind(const Task& task, std::int32_t pidfd, std::int32_t fd) override;
  DescriptorName descriptor_of(const Task& task, std::int32_t pid, std::int32_t fd) override;
  std::string_view path(const Task& task, std::int32_t fd) override;
  std::string_view current_directory(const Task& task) override;
  std::int32_t netlink_protocol(const Task& task, std::int32_t fd) override;
  std::string_view drivers(const Task& task, std::int32_t fd) override;

 private:
  [[nodiscard]] std::optional<trace::OpenFile> open_file(const Task& task, std::int32_t fd);
  DescriptorName name_of(std::optional<trace::OpenFile> file);
  bool append_detail(const trace::OpenFile& file);

  NameOptions options_;
  OpenFiles files_;
  PidNamespaces& pids_;
  LastAddresses addresses_;
  TextBuffer text_;  ///< the last answer
};

}  // namespace tracer::names
