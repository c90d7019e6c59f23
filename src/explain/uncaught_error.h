// Uncaught exceptions and panics, recognized by the messages of language runtimes.
#pragma once

#include <string>

#include "explain/story.h"

namespace tracer::explain {

/// Returns "ValueError, raised at app.py, line 12" of a program that an error ended which it did not catch; empty for
/// others. The words of the error are left out: the program has just printed them.
std::string uncaught_error(const Process& process);

/// Returns what the runtime printed of the last error, with those that led to it; all messages if it is unknown where
/// that starts.
std::string words_of_uncaught(const std::string& messages);

}  // namespace tracer::explain
