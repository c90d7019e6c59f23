// Detects that a stack walk has entered a cycle (Brent's algorithm).
#pragma once

#include <cstdint>

namespace tracer::stack {

class CycleDetector {
 public:
  /// Adds a frame, identified by its instruction pointer and stack pointer. Returns true if the walk is in a cycle, at
  /// the latest after one and a half times its length.
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
