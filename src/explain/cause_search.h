// Asks the rules why a process failed, and puts what they find in order.
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
  std::string path;  ///< that the call was about; empty: none
  int score = 0;
  bool tells_end = false;  ///< see Finding
};

/// At most three, the likeliest first. Story and process must outlive them.
std::vector<Answer> find_causes(const Story& story, const Process& process);

}  // namespace tracer::explain
