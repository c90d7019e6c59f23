// Process ids where /proc belongs to another PID namespace than the tracer, as in `unshare --pid --fork strace …`: its
// directories have other numbers than the tracer knows the processes by.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace tracer::proc {

/// Returns a pidfd of a thread; before Linux 6.9, only of the first one of a process. Invalid with errno otherwise.
[[nodiscard]] UniqueFd open_thread(pid_t tid);

/// Returns the number under which /proc has the thread `tid`; 0 if it does not have it.
[[nodiscard]] pid_t number_in_proc(pid_t tid);
/// Returns the id by which the tracer knows the thread that has `number` in /proc; 0 if it has none.
[[nodiscard]] pid_t number_here(pid_t number);

/// Returns the place of the tracer's ids in the lists of /proc/PID/status, such as NSpid. They start with the ids in
/// the namespace of /proc, and end with those in the process's own.
[[nodiscard]] std::size_t level_here();
/// Returns such a list of /proc/`number`/status: the numbers of a line `NSpid:\t7654\t1`.
[[nodiscard]] std::vector<pid_t> id_list(pid_t number, std::string_view label);

}  // namespace tracer::proc
