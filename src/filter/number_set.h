// NumberSet is a set of small integers or the complement of one: file descriptors for -e read=, signals for -e signal=.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tracer::filter {

class NumberSet {
 public:
  NumberSet() = default;

  [[nodiscard]] static NumberSet all() {
    NumberSet set;
    set.invert();
    return set;
  }

  void add(std::uint32_t number) {
    const auto place = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    if (place == numbers_.end() || *place != number) {
      numbers_.insert(place, number);
    }
  }
  /// Negates the set.
  void invert() { inverted_ = !inverted_; }

  [[nodiscard]] bool contains(std::uint32_t number) const {
    return std::binary_search(numbers_.begin(), numbers_.end(), number) != inverted_;
  }
  /// True if the set contains no number.
  [[nodiscard]] bool empty() const { return numbers_.empty() && !inverted_; }
  /// True if the set contains every number.
  [[nodiscard]] bool full() const { return numbers_.empty() && inverted_; }

  bool operator==(const NumberSet&) const = default;

 private:
  std::vector<std::uint32_t> numbers_;  // sorted and unique
  bool inverted_ = false;
};

}  // namespace tracer::filter
