// Exit statuses with which programs answer a question, so that they report no failure.
#pragma once

#include <string>

#include "explain/story.h"

namespace tracer::explain {

/// Returns what the exit status of a process answers, such as "no line matched"; empty if it reports a failure. The
/// status of a shell that says nothing is that of the last program that it ran.
std::string meaning_of_exit(const Story& story, const Process& process);

}  // namespace tracer::explain
