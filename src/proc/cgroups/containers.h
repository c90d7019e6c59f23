// Containers as their runtimes note them in files: docker, podman, containerd, CRI-O, crun, runc, youki.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracer::proc::cgroups {

struct Container {
  std::string id;
  std::vector<std::string> names;
  std::string group;  ///< below the mount point of cgroup v2, as the runtime notes it; empty if it does not
  std::string slice;  ///< part of the path of its group, which is that of the user whose files these are; or empty
};

/// Returns what the files of runtimes below `root` (empty: the machine's own) say; a container may be there more than
/// once. The files may belong to users that lie: what is read is bounded, and what they say counts for their own groups
/// alone.
[[nodiscard]] std::vector<Container> noted_containers(const std::string& root = {});

/// Returns the id in the name of a container's group: ID of `docker-ID.scope`, `libpod-ID.scope`, `crio-ID.scope`,
/// `cri-containerd-ID.scope`, `crun-ID.scope` and the like, with or without `.scope`, and the name itself if it is 64
/// hexadecimal digits. Empty if the group is not a container's.
[[nodiscard]] std::string_view id_in_group_name(std::string_view group);

}  // namespace tracer::proc::cgroups
