// Names and descriptions of error numbers, including the kernel's internal ones.
#pragma once

#include <string_view>

namespace tracer::format {

/// Returns "ENOENT"; empty if the number has no name.
std::string_view error_name(int number);

/// Returns "No such file or directory", always in English; empty if the number is unknown.
std::string_view error_text(int number);

/// True for ERESTARTSYS and the like: kernel-internal codes with which an interrupted call is restarted after the
/// signal.
bool is_restart_code(int number);

}  // namespace tracer::format
