// Names and texts of error numbers, the kernel's own restart codes included.
#pragma once

#include <string_view>

namespace tracer::format {

/// "ENOENT"; empty if the number has no name.
std::string_view error_name(int number);

/// "No such file or directory", always in English; empty if unknown.
std::string_view error_text(int number);

/// A code that the kernel keeps to itself and that means "this call goes on after the signal" (ERESTARTSYS, …).
bool is_restart_code(int number);

}  // namespace tracer::format
