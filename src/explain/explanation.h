// From the story of a run to the answer: who failed, and why, most likely first.
#pragma once

#include <string>
#include <vector>

#include "explain/cause_search.h"
#include "explain/story.h"

namespace tracer::explain {

struct Explanation {
  enum class Outcome : std::uint8_t { good, failed, running, nothing };
  Outcome outcome = Outcome::nothing;
  std::string headline;              ///< "server: could not start: it exited with status 1 after 0.04 s"
  const Process* process = nullptr;  ///< whom the answers are about: the one that failed first
  std::vector<std::string> chain;    ///< how the first process led to it: "sh (pid 1) ran make (pid 2), …"
  std::vector<Answer> answers;       ///< at most three
  std::string last_words;            ///< the end of what it said on standard error, line by line, printable
  std::vector<std::string> ruled_out;
  std::vector<std::string> not_looked_at;  ///< what is missing, and how to have it another time
  std::vector<std::string> waiting;        ///< for a run that goes on: what each thread waits for
  Time began{};
};

/// The story must outlive the explanation. `still_running`: asked for before the end.
Explanation explain(const Story& story, bool still_running);

/// What each thread that still lives waits for (also recorded ones, by their last call).
std::vector<std::string> describe_waiting(const Story& story);

}  // namespace tracer::explain
