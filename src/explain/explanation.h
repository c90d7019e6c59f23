// Derives the explanation of a run from its story: which process failed and why.
#pragma once

#include <string>
#include <vector>

#include "explain/blocked_threads.h"
#include "explain/cause_search.h"
#include "explain/story.h"

namespace tracer::explain {

struct Explanation {
  enum class Outcome : std::uint8_t { good, failed, running, nothing };
  Outcome outcome = Outcome::nothing;
  std::string headline;              ///< "server: could not start: it exited with status 1 after 0.04 s"
  const Process* process = nullptr;  ///< the process that failed first, which the answers are about
  std::vector<std::string>
      chain;  ///< the processes from the first one to it: "make (pid 2), started by sh (pid 1), failed: …"
  std::vector<Answer> answers;  ///< at most three
  std::string uncaught;         ///< without answers: the error that ended it, "ValueError at app.py, line 12", or empty
  std::string last_words;       ///< its last lines on standard error, printable
  std::vector<std::string> ruled_out;
  std::vector<std::string> not_looked_at;  ///< data that was not available, and options that record it
  std::string verdict;                     ///< for a process that still runs: what all that amounts to; may be empty
  std::vector<std::string> waiting;        ///< for a process that still runs: what each thread waits for
  Time started{};
};

/// Explains a run that has ended. The story must outlive the explanation.
Explanation explain(const Story& story);

/// Explains a run that has not ended, by what its threads wait for.
Explanation explain(const Story& story, const Waits& waits);

/// Explains one process of a run, and those that it started: as it ended, or as it was last seen.
Explanation explain(const Story& story, const Process& process);

/// True if the first process has exited, others run, and all of these are in sessions of their own, as daemons are.
bool runs_in_background(const Story& story);

}  // namespace tracer::explain
