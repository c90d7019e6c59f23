// "Did you mean …?" for words that a person typed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracer {
inline namespace base {

/// The candidate that a typist most likely meant by `word`, or empty if none is near.
class NearMiss {
 public:
  explicit NearMiss(std::string_view word);
  void consider(std::string_view candidate);
  [[nodiscard]] std::string_view best() const { return best_; }
  /// `; did you mean X?`, or nothing.
  [[nodiscard]] std::string suggestion() const;

 private:
  std::string word_;
  std::string best_;
  std::size_t distance_;
};

}  // namespace base
}  // namespace tracer
