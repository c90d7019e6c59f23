// A histogram of the durations of calls.
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
  /// Adds call counts by latency_bucket_of(). `by_bucket` may be empty.
  void add_all(std::span<const std::uint64_t> by_bucket);

  /// Returns a percentile, accurate to an eighth; 0 if there are no calls.
  [[nodiscard]] std::chrono::nanoseconds percentile(unsigned percent) const;
  [[nodiscard]] std::span<const std::uint64_t> by_bucket() const { return by_bucket_; }

  /// Writes a line for each power of two, from the shortest to the longest time.
  void write(TextBuffer& text) const;

 private:
  std::vector<std::uint64_t> by_bucket_;  ///< empty or of size latency_buckets
};

}  // namespace tracer::render
