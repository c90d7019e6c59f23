#include "sysc/diagnostics.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tracer::sysc {

namespace {

/// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
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

void Diagnostics::add(Severity severity, Position at, std::string text) {
  errors_ += severity == Severity::error ? 1 : 0;
  list_.push_back({severity, at, std::move(text)});
}

std::string Diagnostics::text(std::span<const Source> sources) const {
  auto sorted = list_;
  const auto place = [](const Diagnostic& d) { return std::tie(d.at.file, d.at.line, d.at.column); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  // A type that many signatures share is looked at many times.
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b) && a.text == b.text; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  std::string out;
  for (const auto& d : sorted) {
    out += d.at.file < sources.size() ? sources[d.at.file].path : "-";
    out += ':' + std::to_string(d.at.line) + ':' + std::to_string(d.at.column);
    out += d.severity == Severity::error ? ": error: " : ": warning: ";
    out += d.text + '\n';
  }
  return out;
}

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

}  // namespace tracer::sysc
