// Finds the processes that hold a port, a file or a lock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracer::explain {

/// Returns "nginx (pid 4711)".
std::string describe_process(pid_t pid);
/// Returns the first four of them: "sleep (pid 7), sh (pid 9)".
std::string describe_processes(const std::vector<pid_t>& pids);
bool is_alive(pid_t pid);
/// Returns the start time of a process in seconds since the epoch; nullopt if it is gone or /proc is not readable.
std::optional<std::int64_t> start_time_of(pid_t pid);

/// Returns every process with a file descriptor whose /proc link is `target` ("socket:[123]", "/var/lock/x").
std::vector<pid_t> holders_of(const std::string& target);

struct PipeHolder {
  pid_t pid = 0;
  bool can_read = false;
  bool can_write = false;
};
/// Returns every process that has the pipe or FIFO `target` ("pipe:[123]", "/run/x") open, and for what.
std::vector<PipeHolder> pipe_holders(const std::string& target);

/// Returns the access mode of a descriptor (O_RDONLY, O_WRONLY or O_RDWR), from fdinfo; nullopt if it cannot be read.
std::optional<int> access_mode(pid_t pid, std::int64_t fd);

/// Returns the processes that run the program file, or use a directory, root or file at or below `directory`, of those
/// that the tracer may see.
std::vector<pid_t> runners_of(const std::string& program);
std::vector<pid_t> users_below(const std::string& directory);

struct Listener {
  std::string address;  ///< "127.0.0.1:80"
  std::string inode;
  std::vector<pid_t> processes;  ///< empty if the tracer may not see them
};
/// Returns the socket that is bound to the port (for "tcp", that listens on it). `kind` is "tcp" or "udp".
std::optional<Listener> listener_on(const std::string& kind, unsigned port);

/// Returns the processes with a lock of flock(2) or fcntl(2) on the file, from /proc/locks.
std::vector<pid_t> lock_holders(dev_t device, ino_t inode);

}  // namespace tracer::explain
