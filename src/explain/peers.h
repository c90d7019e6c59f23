// Describes what a file descriptor of a process refers to and which process has the other end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tracer::explain {

/// Returns a description: "descriptor 1, a pipe that cat (pid 12) has, too", "descriptor 0, /dev/pts/0 (a terminal: it
/// waits for input)", …
std::string describe_descriptor(pid_t pid, std::int64_t fd);

/// Returns the only other process that has a pipe, if it has but one thread; 0: there is none, or more of them.
pid_t other_end(pid_t pid, std::int64_t fd);

}  // namespace tracer::explain
