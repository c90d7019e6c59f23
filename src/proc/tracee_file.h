// The one door to files that a tracee maps or names. Nothing but a regular file is opened, below the tracee's root, so
// that a FIFO or a device is never touched and a path cannot escape. tests/layers holds other rooms to it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace tracer::proc {

struct TraceeFile {
  UniqueFd descriptor;  ///< of a regular file, or invalid
  struct ::stat status {};
};

/// The root directory of a process at the time of construction.
class Root {
 public:
  /// Opens nothing if the process is gone.
  static Root of(pid_t tid);
  /// The tracer's own root.
  static Root own();

  /// Opens `path` below this root. Symbolic links cannot leave it.
  [[nodiscard]] TraceeFile open(const std::string& path) const;
  /// Opens what `path` leads to below this root with O_PATH, of whatever kind it is. Takes more flags of open(2) and
  /// RESOLVE_ flags of openat2(2). Invalid with errno if that fails.
  [[nodiscard]] UniqueFd look_up(const std::string& path, int flags, std::uint64_t resolve) const;

 private:
  explicit Root(UniqueFd directory) : directory_(std::move(directory)) {}

  UniqueFd directory_;
};

/// Opens `path` in the thread's mount namespace and below its root.
TraceeFile open_in_tracee(pid_t tid, const std::string& path);

/// Opens a file that the process has mapped. Tries `range`, its name in /proc/PID/map_files, which requires
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN; then `path`; then /proc/PID/exe, which works for a deleted program too. The
/// descriptor is invalid if none of them has this inode number.
TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode);

/// Opens `path`, which is absolute and without symbolic links, below the directory `root`; below the tracer's own root
/// if that is negative. A path that has a link by now is not opened.
TraceeFile open_without_links(int root, const std::string& path);

/// Opens a regular file in the tracer's own root, or one that a link in /proc leads to.
TraceeFile open_regular(const std::string& path);

}  // namespace tracer::proc
