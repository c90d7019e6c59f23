#include "proc/tracee_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/proc_text.h"

namespace tracer::proc {

namespace {

/// Opens what `place`, an O_PATH descriptor, stands for if it is a regular file. Opening a FIFO could block, and
/// opening a device can have effects.
TraceeFile open_place(const UniqueFd& place) {
  TraceeFile file;
  if (place.valid() && ::fstat(place.get(), &file.status) == 0 && S_ISREG(file.status.st_mode)) {
    const std::string name = "/proc/self/fd/" + std::to_string(place.get());
    file.descriptor.reset(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  }
  return file;
}

UniqueFd look_up_below(int directory, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(O_PATH | O_CLOEXEC | flags);
  how.resolve = RESOLVE_IN_ROOT | resolve;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

}  // namespace

Root Root::of(pid_t tid) {
  return Root(UniqueFd(::open(proc_path(tid, "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

Root Root::own() {
  return Root(UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

TraceeFile Root::open(const std::string& path) const {
  return open_place(look_up(path, 0, RESOLVE_NO_MAGICLINKS));
}

UniqueFd Root::look_up(const std::string& path, int flags, std::uint64_t resolve) const {
  return look_up_below(directory_.get(), path, flags, resolve);
}

TraceeFile open_in_tracee(pid_t tid, const std::string& path) {
  return Root::of(tid).open(path);
}

TraceeFile open_without_links(int root, const std::string& path) {
  const UniqueFd own(root < 0 ? ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  return open_place(look_up_below(root < 0 ? own.get() : root, path, 0, RESOLVE_NO_SYMLINKS));
}

TraceeFile open_regular(const std::string& path) {
  return open_place(UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC)));
}

TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode) {
  TraceeFile file = open_regular(proc_path(tid, "map_files/" + range));
  const auto matches = [&] { return file.descriptor.valid() && file.status.st_ino == inode; };
  if (!matches()) {
    file = open_in_tracee(tid, path);
  }
  if (!matches()) {
    file = open_regular(proc_path(tid, "exe"));
  }
  return matches() ? std::move(file) : TraceeFile{};
}

}  // namespace tracer::proc
