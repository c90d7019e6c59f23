#include "ptrace/poll_tuner.h"

#include <algorithm>

namespace tracer::ptrace {

void PollTuner::batch_over(Time now) {
  if (!may_poll_) {
    left_ = longest_rest;
    return;
  }
  const Time took = now - batch_began_;
  batch_began_ = now;
  left_ = batch;
  if (trial_ == trials) {
    trial_ = 0;
    polls_ = false;
    return;
  }
  taken_[trial_++] = took;
  if (trial_ < trials) {
    polls_ = trial_ % 2 != 0;
    return;
  }
  // Only the better trial of each kind counts: in the other, the tracee may have slept.
  const Time asleep = std::min(taken_[0], taken_[2]);
  const Time polling = std::min(taken_[1], taken_[3]);
  const bool better = polling < asleep - asleep / 8;
  rest_ = better == chosen_ ? std::min(rest_ * 2, longest_rest) : shortest_rest;
  polls_ = chosen_ = better;
  left_ = rest_;
}

}  // namespace tracer::ptrace
