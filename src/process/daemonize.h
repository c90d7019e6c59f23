// -D: which process the tracer is.
#pragma once

#include <cstdint>

namespace tracer::process {

/// Where the tracer runs: as the parent of the program, or detached from it as its grandchild (-D), which may have a
/// process group (-DD) or a session (-DDD) of its own.
enum class Daemonize : std::uint8_t { no, grandchild, process_group, session };

}  // namespace tracer::process
