// How likely a failed call is to be why its process ended, by what came after it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

/// How closely a failed call is tied to the end.
class Ranking {
 public:
  /// `process` must outlive it, unchanged.
  explicit Ranking(const Process& process);

  /// The higher, the closer: about 100 at most, below 0 for what is harmless.
  [[nodiscard]] int of(const Step& step) const;

 private:
  /// No later failure with that error comes before the text that tells of it.
  [[nodiscard]] bool last_with_text(const Step& step) const;
  [[nodiscard]] bool is_of_another_error(const Step& step, const std::string& said) const;

  const Process& process_;
  std::vector<const Step*> said_;
  const Step* last_ = nullptr;
};

}  // namespace tracer::explain
