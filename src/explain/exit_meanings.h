// Exit statuses with which programs answer a question, so that they report no failure.
#pragma once

#include <string>

#include "explain/story.h"

namespace tracer::explain {

/// Returns what the exit status of a process answers, such as "no line matched"; empty if it reports a failure.
std::string meaning_of_exit(const Process& process);

}  // namespace tracer::explain
