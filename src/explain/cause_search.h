// Applies the rules to a failed process and ranks their findings.
#pragma once

#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

struct Answer {
  std::string rule;
  std::string confidence;  ///< "almost certainly", "most likely", "possibly"
  std::string cause;
  std::vector<const Step*> evidence;  ///< in order
  std::vector<std::string> looked_at;
  std::string remedy;
  std::string path;  ///< the path that the call accessed; empty: none
  pid_t pid = 0;     ///< the process whose call it is, if that is another one than searched
  int score = 0;
  bool is_said = false;         ///< see Finding
  bool describes_exit = false;  ///< see Finding
};

/// Returns at most three answers, the most likely first. Of a process that speaks for another one, whose failed call it
/// names, they come from that one. `story` and `process` must outlive them.
std::vector<Answer> find_causes(const Story& story, const Process& process);

}  // namespace tracer::explain
