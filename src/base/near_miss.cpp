#include "base/near_miss.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tracer {
inline namespace base {
namespace {

/// Returns the Damerau-Levenshtein distance: the number of insertions, deletions, replacements and swaps of adjacent
/// characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0U : 1U)});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

NearMiss::NearMiss(std::string_view word) : word_(word), distance_(std::max<std::size_t>(1, word.size() / 3) + 1) {}

void NearMiss::consider(std::string_view candidate) {
  const auto difference =
      candidate.size() > word_.size() ? candidate.size() - word_.size() : word_.size() - candidate.size();
  if (difference >= distance_ || candidate == word_) {
    return;
  }
  const auto distance = edit_distance(word_, candidate);
  if (distance < distance_) {
    distance_ = distance;
    best_ = candidate;
  }
}

std::string NearMiss::suggestion() const {
  return best_.empty() ? std::string{} : "; did you mean " + best_ + "?";
}

}  // namespace base
}  // namespace tracer
