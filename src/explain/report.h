// Formats an explanation as text or JSON.
#pragma once

#include <string>

#include "explain/explanation.h"

namespace tracer::explain {

/// Returns lines for a terminal or a log: about ten, and all that is known if `verbose`.
std::string report_text(const Explanation& explanation, bool colours, bool verbose);
/// Returns one line with a JSON object of the same content; tracer(1), EXPLANATIONS, describes its members.
std::string report_json(const Explanation& explanation);

}  // namespace tracer::explain
