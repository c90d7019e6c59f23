// Which calls say something about how a run ended, and which do not.
#pragma once

#include <cstdint>
#include <string>

#include "explain/record.h"

namespace tracer::explain {

/// Everyday failures that say nothing.
bool is_noise(const Call& call);
/// Successes that some rule asks for.
bool is_wanted_success(const Call& call);
/// getsockopt(SO_ERROR) that tells of one.
bool is_socket_error(const Call& call);

/// After whose success the surroundings of a process are others.
bool is_turning_point(const Call& call);
/// The names of those calls, each as `?name`, with commas between: for -e.
std::string calls_to_look_after();

/// The descriptor that a call writes text to; -1 for other calls.
std::int64_t written_to(const Call& call);
/// That text, 4096 bytes of it at most.
std::string written(const Call& call);

}  // namespace tracer::explain
