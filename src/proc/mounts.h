// What is mounted for a process, from its /proc/PID/mountinfo: text alone, so that nobody has to answer for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::proc {

struct Mounted {
  std::string point;
  std::string type;  ///< "ext4", "nfs4", "fuse.sshfs"
};

/// The mount that has the file of a descriptor; empty: one of the kernel's own, or /proc does not tell.
std::optional<Mounted> mount_of_descriptor(pid_t pid, std::int64_t fd);
/// The mount whose point is the longest beginning of the path, as the process writes it: links on the way do not count.
std::optional<Mounted> mount_of_path(pid_t pid, const std::string& path);

/// Whether somebody outside of this kernel answers for the file system: a server, a process. Whoever looks at such a
/// file may wait as long as the process that is stuck there.
bool may_not_answer(const Mounted& mounted);

}  // namespace tracer::proc
