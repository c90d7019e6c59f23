#include "explain/step_room.h"

#include <algorithm>
#include <map>

namespace tracer::explain {

void make_room(std::deque<Step>& steps) {
  std::map<Step::Kind, std::size_t> counts;
  for (const Step& step : steps) {
    ++counts[step.kind];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::size_t older = 0;
  const auto first_kept = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == most->first && ++older > (most->second + 1) / 2;
  });
  const std::uint64_t order = first_kept != steps.end() ? first_kept->order : steps.back().order + 1;
  std::erase_if(steps, [&](const Step& step) { return step.kind == most->first && step.order < order; });
}

}  // namespace tracer::explain
