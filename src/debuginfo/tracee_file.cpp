#include "debuginfo/tracee_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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
  const std::string root = fmt::format("/proc/{}/root", tid);
  const UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = how_to_open;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return only_regular(UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how))));
}

TraceeFile open_regular(const std::string& path) {
  return only_regular(UniqueFd(::open(path.c_str(), how_to_open)));
}

std::string contents_of_proc(pid_t tid, const std::string& name, std::size_t limit) {
  std::string text;
  const UniqueFd file(::open(fmt::format("/proc/{}/{}", tid, name).c_str(), O_RDONLY | O_CLOEXEC));
  constexpr std::size_t piece = 32768;
  while (file.valid() && text.size() < limit) {
    const std::size_t size = text.size();
    text.resize(size + std::min(piece, limit - size));
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0) {
      break;
    }
  }
  return text;
}

}  // namespace tracer::debuginfo
