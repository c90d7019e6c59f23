// What a user names that is a control group.
#pragma once

#include <cstdint>
#include <string>

namespace tracer::proc::cgroups {

enum class TargetKind : std::uint8_t {
  path,       ///< --cgroup: a directory of cgroup v2, or a path below its mount point
  unit,       ///< --unit: a unit of systemd
  container,  ///< --container: the name or the id of a container, or the beginning of an id
};

struct Target {
  TargetKind kind = TargetKind::path;
  std::string name;
};

}  // namespace tracer::proc::cgroups
