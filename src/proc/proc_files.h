// What /proc tells of processes. All of it can be out of date when it arrives.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tracer::proc {

/// A field of /proc/PID/status such as "TracerPid"; empty if there is none.
std::string status_field(pid_t pid, const std::string& name);
/// The same as a number; 0 if there is none.
pid_t number_field(pid_t pid, const std::string& name);

/// Whether this process has a capability in effect (capabilities(7), linux/capability.h).
bool has_capability(unsigned number);

/// The threads of a process, from /proc; empty if it is gone.
std::vector<pid_t> threads_of(pid_t pid);
/// The process of a thread; `tid` itself if that cannot be told.
pid_t process_of(pid_t tid);
/// The process that a process descends from; 0 if that cannot be told.
pid_t parent_of(pid_t tid);
/// Whether the thread exists and is no zombie.
bool is_alive(pid_t tid);
/// argv[0], or the name of the kernel's own; empty if unknown.
std::string command_of(pid_t pid);
/// Whether `tid` is a thread of `tgid`.
bool is_thread_of(pid_t tid, pid_t tgid);

}  // namespace tracer::proc
