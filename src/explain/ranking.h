// Ranks failed calls by how likely they made their process fail, judging by what happened afterwards.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

class Ranking {
 public:
  /// `process` must outlive it, unchanged.
  explicit Ranking(const Process& process);

  /// Returns the score of a failed call: about 100 at most, below 0 for harmless failures.
  [[nodiscard]] int of(const Step& step) const;

 private:
  /// True if no later call fails with the same error before the message that reports this error.
  [[nodiscard]] bool is_last_before_message(const Step& step) const;
  [[nodiscard]] bool reports_other_error(const Step& step, const std::string& messages) const;

  const Process& process_;
  std::vector<const Step*> messages_;
  const Step* last_ = nullptr;
};

}  // namespace tracer::explain
