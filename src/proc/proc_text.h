// Where the files of /proc are, and how they say things.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::proc {

/// `/proc/TID/WHAT`
[[nodiscard]] std::string proc_path(pid_t tid, std::string_view what);

/// `/proc/TID/fd/N`, or the same in another FOLDER, such as `fdinfo`.
[[nodiscard]] std::string descriptor_path(pid_t tid, std::int64_t fd, std::string_view folder = "fd");

/// Of lines `LABEL:\tVALUE`, as proc(5) has them in status and fdinfo: the value of the first with this label, without
/// the blanks before it and the line's end. Empty if there is none. A part of `text`.
[[nodiscard]] std::string_view labelled(std::string_view text, std::string_view label);

/// The name of a thread's program, /proc/TID/comm: 15 bytes at most; empty if there is no such thread.
[[nodiscard]] std::string command_name(pid_t tid);

}  // namespace tracer::proc
