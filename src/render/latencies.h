// How long calls took, as a histogram.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/latency_bucket.h"
#include "base/text_buffer.h"

namespace tracer::render {

class Latencies {
 public:
  void add(std::chrono::nanoseconds time);
  /// Numbers of calls for each latency_bucket_of(), or nothing.
  void add_all(std::span<const std::uint64_t> by_bucket);

  /// What so many percent of the calls did not exceed, to an eighth; 0 without calls.
  [[nodiscard]] std::chrono::nanoseconds percentile(unsigned percent) const;
  [[nodiscard]] std::span<const std::uint64_t> by_bucket() const { return by_bucket_; }

  /// A line for each power of two, from the shortest to the longest time.
  void write(TextBuffer& text) const;

 private:
  std::vector<std::uint64_t> by_bucket_;  ///< empty, or latency_buckets of them
};

}  // namespace tracer::render
