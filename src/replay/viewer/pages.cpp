#include "replay/viewer/pages.h"

#include <algorithm>
#include <utility>

namespace tracer::replay::viewer {

namespace {

/// How many blocks' lines are held. They can be made anew.
constexpr std::size_t most_lines = 64;

}  // namespace

const std::vector<ShownLine>& Pages::lines(std::size_t block) {
  if (const auto known = lines_.find(block); known != lines_.end()) {
    return known->second;
  }
  if (lines_.size() >= most_lines) {
    lines_.clear();
  }
  const Recording::Rows& rows = recording_.rows(block);
  see_threads(rows);
  auto made = make_lines(rows, lens_, opened_[block], utf8_);
  if (opened_[block].empty()) {
    opened_.erase(block);
  }
  counts_[block] = made.size();
  return lines_[block] = std::move(made);
}

void Pages::see_threads(const Recording::Rows& rows) {
  for (const auto& row : rows) {
    thread_ = thread_ == 0 ? row.tid : thread_;
    several_threads_ = several_threads_ || row.tid != thread_;
  }
}

Pages::Step Pages::next(Place& place) {
  std::ptrdiff_t line = place.line;
  for (std::size_t block = place.block; block < counts_.size(); ++block) {
    if (!counts_[block]) {
      unknown_ = block;
      return Step::unknown;
    }
    if (line + 1 < static_cast<std::ptrdiff_t>(*counts_[block])) {
      place = {block, line + 1};
      return Step::moved;
    }
    line = -1;
  }
  return Step::end;
}

Pages::Step Pages::previous(Place& place) {
  if (place.line > 0) {
    --place.line;
    return Step::moved;
  }
  for (std::size_t block = std::min(place.block, counts_.size()); block-- > 0;) {
    if (!counts_[block]) {
      unknown_ = block;
      return Step::unknown;
    }
    if (*counts_[block] != 0) {
      place = {block, static_cast<std::ptrdiff_t>(*counts_[block]) - 1};
      return Step::moved;
    }
  }
  return Step::end;
}

double Pages::part_up_to(const Place& place) const {
  const double before = recording_.part_before(place.block);
  const auto lines = static_cast<double>(counts_[place.block].value_or(1));
  return before + (recording_.part_before(place.block + 1) - before) * static_cast<double>(place.line + 1) / lines;
}

void Pages::use(Lens lens) {
  lens_ = std::move(lens);
  lines_.clear();
  counts_.assign(counts_.size(), std::nullopt);
}

void Pages::grow() {
  lines_.clear();  // the ends of calls may be there now
  counts_.assign(recording_.blocks(), std::nullopt);
}

void Pages::forget(Lens lens) {
  opened_.clear();
  use(std::move(lens));
}

void Pages::toggle_run(const Place& place) {
  const ShownLine& shown = line(place);
  const std::size_t first = shown.row;
  if (!shown.fold.empty()) {
    opened_[place.block].insert(first);
  } else if (shown.opens_run) {
    opened_[place.block].erase(first);
  } else {
    return;
  }
  lines_.erase(place.block);
  load(place.block);
}

std::optional<Place> Pages::place_of(std::size_t block, std::size_t row) {
  if (block >= counts_.size()) {
    return std::nullopt;
  }
  const auto exact = [&]() -> std::optional<Place> {
    const auto& all = lines(block);
    const auto found = std::find_if(all.begin(), all.end(), [row](const ShownLine& one) { return one.row >= row; });
    return found == all.end() ? std::nullopt : std::optional(Place{block, found - all.begin()});
  };
  auto place = exact();
  const Recording::Rows& rows = recording_.rows(block);
  const bool is_there = place && line(*place).row == row && line(*place).fold.empty();
  if (is_there || row >= rows.size() || !lens_.shows(rows[row]) || rows[row].rule == nullptr) {
    return place;
  }
  // It is in a folded run of its thread: the last one that begins before it.
  const pid_t thread = rows[row].tid;
  std::optional<Place> run;
  const auto& all = lines(block);
  for (std::size_t i = 0; i < all.size() && all[i].row <= row; ++i) {
    if (!all[i].fold.empty() && rows[all[i].row].tid == thread) {
      run = Place{block, static_cast<std::ptrdiff_t>(i)};
    }
  }
  if (run) {
    toggle_run(*run);
    place = exact();
  }
  return place;
}

}  // namespace tracer::replay::viewer
