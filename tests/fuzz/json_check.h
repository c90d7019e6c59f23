// Whether a text is one JSON value: for checking what the JSON emitter writes.
#pragma once

#include <string_view>

namespace tracer::fuzz {

/// Strict (RFC 8259), besides that numbers may be of any size. At most 200 levels deep.
bool is_json(std::string_view text);

}  // namespace tracer::fuzz
