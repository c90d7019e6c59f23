// Where a fuzzed call's choices come from: random numbers, or the input that libFuzzer made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace tracer::fuzz {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual std::uint64_t next() = 0;

  /// A number below `count`, which is not 0.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
};

/// The same sequence for the same seed.
class RandomSource final : public Source {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// Bytes of an input; when they are used up, numbers that only depend on how many were asked for.
class InputSource final : public Source {
 public:
  explicit InputSource(std::span<const std::uint8_t> input) : input_(input) {}
  std::uint64_t next() override {
    if (input_.empty()) {
      return beyond_++;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < 8 && !input_.empty(); ++i) {
      value = value << 8 | input_.front();
      input_ = input_.subspan(1);
    }
    return value;
  }

 private:
  std::span<const std::uint8_t> input_;
  std::uint64_t beyond_ = 0;
};

}  // namespace tracer::fuzz
