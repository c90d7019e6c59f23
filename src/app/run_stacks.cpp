#include "app/run_stacks.h"

#include <utility>

namespace tracer::app {

RunStacks::RunStacks(const cli::Options& options, const spec::Tables& tables,
                     std::unique_ptr<trace::StackTracer> unwound, replay::ReplayEngine* replayed)
    : unwound_(std::move(unwound)), at_death_(tables) {
  const bool wanted = unwound_ != nullptr || options.extras.explain;
  if (replayed != nullptr) {
    shown_ = wanted ? &replayed->stacks() : nullptr;
    return;
  }
  trace::StackTracer& live = unwound_ != nullptr ? *unwound_ : at_death_;
  if (!options.extras.files.record.empty()) {
    kept_.emplace(live);
  }
  if (wanted) {
    shown_ = kept_ ? static_cast<trace::StackTracer*>(&*kept_) : &live;
  }
}

}  // namespace tracer::app
