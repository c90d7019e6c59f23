// What a descriptor of a process leads to, and who is at the other end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tracer::explain {

/// "the pipe to cat (pid 12)", "a connection to 127.0.0.1:5432, held by postgres (pid 9)", "/dev/pts/0 (a terminal)", …
std::string describe_descriptor(pid_t pid, std::int64_t fd);

}  // namespace tracer::explain
