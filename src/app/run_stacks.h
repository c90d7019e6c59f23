// Which stacks a run shows, and which it records.
#pragma once

#include <memory>
#include <optional>

#include "app/explaining.h"
#include "cli/options.h"
#include "replay/kept_stacks.h"
#include "replay/replay_engine.h"
#include "trace/stack.h"

namespace tracer::app {

class RunStacks {
 public:
  /// `unwound`: those that the options ask for, of a live run; null: none. `replayed`: null for a live run. It and
  /// `tables` outlive this.
  RunStacks(const cli::Options& options, const spec::Tables& tables, std::unique_ptr<trace::StackTracer> unwound,
            replay::ReplayEngine* replayed);
  RunStacks(const RunStacks&) = delete;
  RunStacks& operator=(const RunStacks&) = delete;

  /// Null: none.
  [[nodiscard]] trace::StackTracer* shown() { return shown_; }
  /// Null without --record, which has the stacks of deadly signals even if none are asked for.
  [[nodiscard]] replay::KeptStacks* kept() { return kept_ ? &*kept_ : nullptr; }

 private:
  std::unique_ptr<trace::StackTracer> unwound_;
  DeathStacks at_death_;
  std::optional<replay::KeptStacks> kept_;
  trace::StackTracer* shown_ = nullptr;
};

}  // namespace tracer::app
