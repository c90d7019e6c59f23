#include "ptrace/shared_file.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "proc/proc_files.h"

namespace tracer::ptrace {
namespace {

/// The very descriptor of the thread, with no more rights than it has itself.
UniqueFd take_descriptor(pid_t tid, std::uint64_t number) {
  const UniqueFd thread = proc::open_task(tid);
  return UniqueFd(thread.valid() ? static_cast<int>(::syscall(SYS_pidfd_getfd, thread.get(), number, 0)) : -1);
}

}  // namespace

std::uint64_t shared_file_flags() {
  return MFD_CLOEXEC | MFD_ALLOW_SEALING;
}

Result<Mapping> map_shared_file(pid_t tid, std::uint64_t descriptor, std::size_t size, int more_seals) {
  const UniqueFd file = take_descriptor(tid, descriptor);
  // Another process may have put another file there meanwhile. None but a new file in memory is without seals (that
  // of execution may be the machine's default), and nobody can take from us what we have mapped of a sealed one.
  constexpr int seal_exec = 0x20;
  const int seals = file.valid() ? ::fcntl(file.get(), F_GET_SEALS) : -1;
  if (seals < 0) {
    return Error{errno, {}};
  }
  struct stat status {};
  if ((seals & ~seal_exec) != 0 || ::fstat(file.get(), &status) != 0 || status.st_size != 0) {
    return Error{EBADF, {}};
  }
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return Error{errno, {}};
  }
  Mapping ours = map_file(file.get(), size, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (ours == nullptr || ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | more_seals) != 0) {
    return Error{errno, {}};
  }
  return ours;
}

}  // namespace tracer::ptrace
