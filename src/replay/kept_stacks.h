// Stacks that are kept: two pipelines see each event, and the stack is unwound once.
#pragma once

#include <span>

#include "replay/facts.h"
#include "trace/stack.h"

namespace tracer::replay {

class KeptStacks final : public trace::StackTracer {
 public:
  /// `stacks` outlives this.
  explicit KeptStacks(trace::StackTracer& stacks) : stacks_(stacks) {}

  /// Another event comes.
  void begin() {
    observed_ = false;
    taken_ = false;
  }
  void observe(const trace::Event& event, const trace::Memory& memory) override {
    if (!observed_) {
      observed_ = true;
      stacks_.observe(event, memory);
    }
  }
  std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override {
    if (!taken_) {
      taken_ = true;
      frames_ = stacks_.frames(event, memory);
    }
    return frames_;
  }
  /// Copies the frames of the event, if anybody has asked for them.
  void copy_to(Facts& facts) const;

 private:
  trace::StackTracer& stacks_;
  std::span<const trace::StackFrame> frames_;
  bool observed_ = false;
  bool taken_ = false;
};

}  // namespace tracer::replay
