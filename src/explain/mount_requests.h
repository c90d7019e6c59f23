// What a process asks the kernel to mount. mount(2) says it in one call; with fsopen(2), fsconfig(2), fsmount(2),
// open_tree(2) and move_mount(2) it is said in several, which share descriptors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "explain/record.h"

namespace tracer::explain {

struct MountRequest {
  std::string type;            ///< of the file system; empty: unknown, or what is to be mounted is mounted already
  std::string source;          ///< as the program gave it
  std::string options;         ///< separated by commas
  std::string option;          ///< the one that the failed call was to set; empty: it was another call
  std::string kernel_message;  ///< the kernel's words about the failure, as far as the program has read them
};

/// The requests that a process has descriptors of.
class MountRequests {
 public:
  /// Learns from a call that succeeded. `path`: the path that it accesses.
  void follow(const Call& call, const std::string& path);
  /// Returns the request that the failed call belongs to; null if it mounts nothing.
  std::shared_ptr<const MountRequest> failed(const Call& call);

 private:
  struct Open {
    MountRequest request;
    std::shared_ptr<MountRequest> failed;  ///< the request as it was at the last failure
  };

  void keep(std::int64_t fd, MountRequest request);

  std::map<std::int64_t, Open> open_;
};

}  // namespace tracer::explain
