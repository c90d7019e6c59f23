// An explanation for a person, or for a program.
#pragma once

#include <string>

#include "explain/explanation.h"

namespace tracer::explain {

/// Lines for a terminal or a log.
std::string report_text(const Explanation& explanation, bool colours);
/// One JSON object, on one line, with the same content. Its members: man/tracer.1, EXPLANATIONS.
std::string report_json(const Explanation& explanation);

}  // namespace tracer::explain
