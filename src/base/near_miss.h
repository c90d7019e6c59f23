// "Did you mean …?" for words that a person typed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracer {
inline namespace base {

/// Finds the candidate that the user most likely meant by a misspelt `word`, by edit distance.
class NearMiss {
 public:
  explicit NearMiss(std::string_view word);
  void consider(std::string_view candidate);
  /// Returns the nearest candidate so far, or an empty string if none is near enough.
  [[nodiscard]] std::string_view best() const { return best_; }
  /// Returns `; did you mean X?`, or an empty string if no candidate is near enough.
  [[nodiscard]] std::string suggestion() const;

 private:
  std::string word_;
  std::string best_;
  std::size_t distance_;
};

}  // namespace base
}  // namespace tracer
