// Reads facts about processes from /proc. They may be out of date by the time they are returned.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace tracer::proc {

/// Returns a field of /proc/PID/status such as "TracerPid"; empty if there is none.
std::string status_field(pid_t pid, const std::string& name);
/// Returns such a field as a number; 0 if there is none.
pid_t number_field(pid_t pid, const std::string& name);
/// Returns such a field that is the id of a process, as the tracer knows it; 0 if there is none.
pid_t id_field(pid_t pid, const std::string& name);

/// Whether the tracer has this capability in its effective set (capabilities(7), linux/capability.h).
bool has_capability(unsigned number);

/// Returns the thread IDs of a process; empty if it is gone.
std::vector<pid_t> threads_of(pid_t pid);
/// Returns the thread group ID of a thread; `tid` itself if that is unknown.
pid_t process_of(pid_t tid);
/// Returns a pidfd of a thread, or of its process where Linux has none of threads. Invalid with errno if it is gone.
UniqueFd open_task(pid_t tid);
/// Returns the parent process ID; 0 if that is unknown.
pid_t parent_of(pid_t tid);
/// Whether the thread exists and is not a zombie.
bool is_alive(pid_t tid);
/// Returns argv[0] of a process; empty for kernel threads and processes that are gone.
std::string command_of(pid_t pid);
/// Returns where the stack of the program begins, above all its frames; 0 if that is unknown.
std::uint64_t stack_start_of(pid_t pid);
/// Whether a thread may belong to others than the tracer's user: it has another effective user or PID namespace.
bool is_foreign(pid_t tid);
/// Whether `tid` is a thread of `tgid`.
bool is_thread_of(pid_t tid, pid_t tgid);

}  // namespace tracer::proc
