// Finds out that a walk up a stack goes round, after one round and a half at most (Brent's algorithm).
#pragma once

#include <cstdint>

namespace tracer::stack {

class CycleDetector {
 public:
  /// Whether the walk has been here before. A stack pointer and an instruction pointer make a frame.
  bool seen(std::uint64_t address, std::uint64_t stack) {
    if (steps_ != 0 && address == address_ && stack == stack_) {
      return true;
    }
    if (++steps_ == power_) {
      power_ *= 2;
      address_ = address;
      stack_ = stack;
    }
    return false;
  }

 private:
  std::uint64_t address_ = 0;
  std::uint64_t stack_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t power_ = 1;
};

}  // namespace tracer::stack
