// Where the kernel finds code of a process that it shall watch.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "functions/library/modules.h"

namespace tracer::functions {

/// Returns the offset of the code in the module's file.
std::optional<std::uint64_t> file_offset(const library::Module& module, std::uint64_t address);

/// A path by which the kernel finds the module's file, wherever the process has it from.
std::string path_of(pid_t process, const library::Module& module);

}  // namespace tracer::functions
