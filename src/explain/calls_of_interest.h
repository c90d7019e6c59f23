// Classifies calls by what they contribute to an explanation.
#pragma once

#include <cstdint>
#include <string>

#include "explain/record.h"

namespace tracer::explain {

/// True for frequent failures without significance.
bool is_noise(const Call& call);
/// True for successful calls that a rule examines.
bool is_wanted_success(const Call& call);
/// True for a getsockopt(SO_ERROR) that returns an error.
bool is_socket_error(const Call& call);

/// True for calls that change credentials, limits, namespaces or directories of the process when they succeed.
bool changes_context(const Call& call);
/// Returns the names of those calls, each as `?name`, separated by commas, for -e.
std::string context_changing_calls();

/// Returns the descriptor that a call writes to; -1 for other calls.
std::int64_t output_descriptor(const Call& call);
/// Returns the first 4096 bytes that the call writes.
std::string output_text(const Call& call);

}  // namespace tracer::explain
