#include "debuginfo/tracee_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/proc_text.h"

namespace tracer::debuginfo {

namespace {

constexpr int open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // O_NONBLOCK: a FIFO must not block

TraceeFile regular_or_none(UniqueFd descriptor) {
  TraceeFile file{std::move(descriptor)};
  if (file.descriptor.valid() && (::fstat(file.descriptor.get(), &file.status) != 0 || !S_ISREG(file.status.st_mode))) {
    file.descriptor.reset();
  }
  return file;
}

}  // namespace

TraceeFile open_in_tracee(pid_t tid, const std::string& path) {
  const UniqueFd root(::open(proc::proc_path(tid, "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = open_flags;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return regular_or_none(
      UniqueFd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how))));
}

TraceeFile open_regular(const std::string& path) {
  return regular_or_none(UniqueFd(::open(path.c_str(), open_flags)));
}

TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode) {
  TraceeFile file = open_regular(proc::proc_path(tid, "map_files/" + range));
  const auto matches = [&] { return file.descriptor.valid() && file.status.st_ino == inode; };
  if (!matches()) {
    file = open_in_tracee(tid, path);
  }
  if (!matches()) {
    file = open_regular(proc::proc_path(tid, "exe"));
  }
  return matches() ? std::move(file) : TraceeFile{};
}

}  // namespace tracer::debuginfo
