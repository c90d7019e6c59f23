// What descriptors stand for at this moment, from /proc of the machine that runs the tracees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "names/name_options.h"
#include "names/socket_names.h"
#include "trace/capture.h"

namespace tracer::names {

class OpenFiles {
 public:
  explicit OpenFiles(const NameOptions& wanted) : wanted_(wanted) {}

  /// As much as is wanted; nothing if there is no such descriptor.
  [[nodiscard]] std::optional<trace::OpenFile> file(std::int32_t tid, std::int32_t fd);
  /// The process behind a pidfd; its id is -1 if the descriptor is none.
  [[nodiscard]] trace::PidfdProcess process(std::int32_t tid, std::int32_t fd) const;
  /// The protocol of a netlink socket, -1 for any other descriptor.
  [[nodiscard]] std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd);
  /// Leaves out of what was captured what this kernel's fdinfo would not have told.
  [[nodiscard]] trace::EventCounter as_told_here(trace::EventCounter counter);

 private:
  NameOptions wanted_;
  SocketNames sockets_;
  std::optional<trace::EventCounter> told_;  ///< which facts the kernel tells; empty: not looked yet
};

}  // namespace tracer::names
