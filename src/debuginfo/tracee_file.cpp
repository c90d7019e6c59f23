#include "debuginfo/tracee_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/proc_text.h"

namespace tracer::debuginfo {

namespace {

constexpr int how_to_open = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // does not wait for a FIFO's writer

TraceeFile only_regular(UniqueFd descriptor) {
  TraceeFile file{std::move(descriptor)};
  if (file.descriptor.valid() && (::fstat(file.descriptor.get(), &file.status) != 0 || !S_ISREG(file.status.st_mode))) {
    file.descriptor.reset();
  }
  return file;
}

}  // namespace

TraceeFile open_in_tracee(pid_t tid, const std::string& path) {
  const UniqueFd folder(::open(proc::proc_path(tid, "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = how_to_open;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return only_regular(UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how))));
}

TraceeFile open_regular(const std::string& path) {
  return only_regular(UniqueFd(::open(path.c_str(), how_to_open)));
}

TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode) {
  TraceeFile file = open_regular(proc::proc_path(tid, "map_files/" + range));
  const auto is_it = [&] { return file.descriptor.valid() && file.status.st_ino == inode; };
  if (!is_it()) {
    file = open_in_tracee(tid, path);
  }
  if (!is_it()) {
    file = open_regular(proc::proc_path(tid, "exe"));
  }
  return is_it() ? std::move(file) : TraceeFile{};
}

}  // namespace tracer::debuginfo
