// The tree of control groups of version 2: where it is mounted, and the directories in it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tracer::proc::cgroups {

/// Returns where cgroup v2 is mounted first; empty if it is nowhere.
[[nodiscard]] std::string mount_point();

/// Opens a directory of cgroup v2. `path` is one, or a path below `mount_point()`. The error is one sentence that names
/// --cgroup.
Result<UniqueFd> open_group(const std::string& path);

/// Calls `visit` with the path below `mount` (`/system.slice/cron.service`) and the last part of it for each group,
/// those near the root first, until it returns false. Looks at 65,536 groups at most and at 32 levels: users can make
/// groups of their own.
void for_each_group(const std::string& mount,
                    const std::function<bool(const std::string& path, std::string_view name)>& visit);

}  // namespace tracer::proc::cgroups
