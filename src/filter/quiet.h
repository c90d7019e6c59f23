// -q, -e quiet=: which notes are left out.
#pragma once

#include <cstdint>

namespace tracer::filter {

enum class Quiet : std::uint8_t { attach, exit, path_resolution, personality, thread_execve };

}  // namespace tracer::filter
