// The mounts of a process, from /proc/PID/mountinfo. Reading that file never waits for a file system to respond.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::proc {

struct Mount {
  std::string point;  ///< the mount point as the process sees it
  std::string type;   ///< "ext4", "nfs4", "fuse.sshfs"
};

/// Returns the mount of a descriptor's file; empty for a mount that is internal to the kernel, or if /proc has
/// none.
std::optional<Mount> mount_of_descriptor(pid_t pid, std::int64_t fd);
/// Returns the mount whose mount point is the longest prefix of `path`. Symbolic links are not resolved.
std::optional<Mount> mount_of_path(pid_t pid, const std::string& path);

/// Whether a server or a user-space process backs the file system. Accessing a file there may block the tracer for as
/// long as it blocks the tracee.
bool may_block(const Mount& mount);

}  // namespace tracer::proc
