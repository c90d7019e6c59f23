#include "bpf/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tracer::bpf {
namespace {

UniqueFd open_directory(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Empty if there is none.
std::string cgroup2_mount() {
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

}  // namespace

Result<UniqueFd> open_cgroup(const std::string& path) {
  UniqueFd directory = open_directory(path);
  struct statfs info {};
  if (directory.valid() && ::fstatfs(directory.get(), &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC) {
    return directory;
  }
  const std::string mount = cgroup2_mount();
  if (mount.empty()) {
    return Error{ENOENT, "--cgroup=" + path + ": control groups of version 2 are not mounted on this machine"};
  }
  UniqueFd below = open_directory(mount + '/' + path);
  if (!below.valid()) {
    return Error{errno, "--cgroup=" + path + ": neither a directory of cgroup v2 nor one below " + mount};
  }
  return below;
}

}  // namespace tracer::bpf
