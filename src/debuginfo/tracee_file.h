// Opens files as a tracee sees them, such that the open can neither block nor escape from the tracee's root.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace tracer::debuginfo {

struct TraceeFile {
  UniqueFd descriptor;  ///< of a regular file, or invalid
  struct ::stat status {};
};

/// Opens `path` in the thread's mount namespace and below its root. Symbolic links cannot leave that root.
TraceeFile open_in_tracee(pid_t tid, const std::string& path);

/// Opens a file that the process has mapped. Tries `range`, its name in /proc/PID/map_files, which requires
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN; then `path`; then /proc/PID/exe, which works for a deleted program too. The
/// descriptor is invalid if none of them has this inode number.
TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode);

/// Opens a regular file in the tracer's own root.
TraceeFile open_regular(const std::string& path);

}  // namespace tracer::debuginfo
