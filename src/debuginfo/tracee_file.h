// Files as a tracee sees them, opened so that nothing in them can hold the tracer up.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace tracer::debuginfo {

struct TraceeFile {
  UniqueFd descriptor;  ///< of a regular file, or none
  struct ::stat status {};
};

/// Opens `path` in the thread's mount namespace and below its root. Symbolic links do not lead out of there.
TraceeFile open_in_tracee(pid_t tid, const std::string& path);

/// Opens the file that the thread's process has mapped: by `range`, its name in /proc/PID/map_files, which takes
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN; by `path`; or as the program, as which it may be deleted. None if none of
/// these has this inode.
TraceeFile open_mapped(pid_t tid, const std::string& range, const std::string& path, ino_t inode);

/// Opens a file of ours; its meaning is not checked.
TraceeFile open_regular(const std::string& path);

}  // namespace tracer::debuginfo
