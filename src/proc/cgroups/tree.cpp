#include "proc/cgroups/tree.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "base/directory.h"

namespace tracer::proc::cgroups {
namespace {

UniqueFd open_directory(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

std::string mount_point() {
  const std::unique_ptr<FILE, int (*)(FILE*)> mounts(::setmntent("/proc/self/mounts", "re"), ::endmntent);
  if (mounts) {
    while (const mntent* mount = ::getmntent(mounts.get())) {
      if (std::strcmp(mount->mnt_type, "cgroup2") == 0) {
        return mount->mnt_dir;
      }
    }
  }
  return {};
}

Result<UniqueFd> open_group(const std::string& path) {
  UniqueFd directory = open_directory(path);
  struct statfs info {};
  if (directory.valid() && ::fstatfs(directory.get(), &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC) {
    return directory;
  }
  const std::string mount = mount_point();
  if (mount.empty()) {
    return Error{ENOENT, "--cgroup=" + path + ": control groups of version 2 are not mounted on this machine"};
  }
  UniqueFd below = open_directory(mount + '/' + path);
  if (!below.valid()) {
    return Error{errno, "--cgroup=" + path + ": neither a directory of cgroup v2 nor one below " + mount};
  }
  return below;
}

void for_each_group(const std::string& mount,
                    const std::function<bool(const std::string& path, std::string_view name)>& visit) {
  constexpr std::size_t most_groups = 65536;
  constexpr unsigned most_levels = 32;
  std::deque<std::pair<std::string, unsigned>> left{{std::string{}, 0}};
  std::size_t seen = 0;
  bool goes_on = true;
  for (; goes_on && !left.empty(); left.pop_front()) {
    const auto& [path, level] = left.front();
    for_each_entry(mount + path, [&, parent = path, depth = level + 1](const char* name) {
      std::string child = parent + '/' + name;
      struct ::stat status {};
      if (::lstat((mount + child).c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return true;
      }
      goes_on = ++seen <= most_groups && visit(child, name);
      if (goes_on && depth < most_levels) {
        left.emplace_back(std::move(child), depth);
      }
      return goes_on;
    });
  }
}

}  // namespace tracer::proc::cgroups
