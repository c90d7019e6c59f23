// Who holds something: a port, a file, a lock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracer::explain {

/// "nginx (pid 4711)"
std::string describe_process(pid_t pid);
bool is_alive(pid_t pid);
/// When the process began, in seconds since the epoch; empty: it is gone, or /proc does not tell.
std::optional<std::int64_t> began_at(pid_t pid);

/// Every process that has a descriptor whose link in /proc reads `target` ("socket:[123]", "/var/lock/x").
std::vector<pid_t> holders_of(const std::string& target);

struct Listener {
  std::string address;  ///< "127.0.0.1:80"
  std::string inode;
  std::vector<pid_t> processes;  ///< empty where they may not be seen
};
/// Whoever has the port; `kind`: "tcp" or "udp".
std::optional<Listener> listener_on(const std::string& kind, unsigned port);

/// Processes with a lock of flock(2) or fcntl(2) on the file, from /proc/locks.
std::vector<pid_t> lockers_of(dev_t device, ino_t inode);

}  // namespace tracer::explain
