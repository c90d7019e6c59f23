// Paths in /proc and the text formats of its files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::proc {

/// Returns `/proc/TID/WHAT`, with the number of the thread in the PID namespace of /proc.
[[nodiscard]] std::string proc_path(pid_t tid, std::string_view what);

/// Returns `/proc/TID/DIRECTORY/FD`, where the directory is `fd`, `fdinfo` or the like.
[[nodiscard]] std::string descriptor_path(pid_t tid, std::int64_t fd, std::string_view directory = "fd");

/// Returns the value of the first line `NAME:\tVALUE` in `text`, the format of status and fdinfo in proc(5), without
/// the blanks before it. Empty if there is no such line. The result points into `text`.
[[nodiscard]] std::string_view find_field(std::string_view text, std::string_view name);

/// Returns the command name of a thread, /proc/TID/comm, of 15 bytes at most; empty if there is no such thread.
[[nodiscard]] std::string command_name(pid_t tid);

}  // namespace tracer::proc
