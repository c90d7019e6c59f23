#include "replay/viewer/motion.h"

#include <utility>

namespace tracer::replay::viewer {

void Motion::move(const Place& from, Direction direction, std::size_t lines, bool or_back) {
  stop();
  moving_ = Moving{from, direction, lines, or_back, false};
}

void Motion::find(std::size_t block, std::size_t row, Direction direction, Wanted wanted, Within within) {
  stop();
  finding_ = Finding{block, row, direction, std::move(wanted), std::move(within)};
}

void Motion::stop() {
  moving_.reset();
  finding_.reset();
}

std::optional<Place> Motion::work() {
  return finding_ ? work_on_find() : moving_ ? work_on_move() : std::nullopt;
}

std::optional<Place> Motion::work_on_move() {
  Moving& moving = *moving_;
  while (moving.left != 0) {
    const auto step = moving.direction == Direction::forward ? pages_.next(moving.at) : pages_.previous(moving.at);
    if (step == Pages::Step::unknown) {
      pages_.load(pages_.unknown_block());
      return std::nullopt;
    }
    if (step == Pages::Step::end) {
      if (moving.or_back && !moving.moved) {
        moving.direction = moving.direction == Direction::forward ? Direction::backward : Direction::forward;
        moving.or_back = false;
        continue;
      }
      break;
    }
    moving.moved = true;
    --moving.left;
  }
  const std::optional<Place> end = moving.moved ? std::optional(moving.at) : std::nullopt;
  moving_.reset();
  return end;
}

std::optional<Place> Motion::work_on_find() {
  Finding& finding = *finding_;
  if (finding.within && !finding.within(finding.block)) {
    finding_.reset();
    return std::nullopt;
  }
  const bool forward = finding.direction == Direction::forward;
  const Recording::Rows& rows = pages_.recording().rows(finding.block);
  std::size_t row = forward ? (finding.row ? *finding.row + 1 : 0) : finding.row.value_or(rows.size());
  for (; forward ? row < rows.size() : row > 0; forward ? ++row : --row) {
    const std::size_t candidate = forward ? row : row - 1;
    if (pages_.lens().shows(rows[candidate]) && finding.wanted(finding.block, rows[candidate])) {
      const std::size_t block = finding.block;
      finding_.reset();
      return pages_.place_of(block, candidate);
    }
  }
  finding.row.reset();
  if (forward ? finding.block + 1 >= pages_.blocks() : finding.block == 0) {
    finding_.reset();
  } else {
    finding.block = forward ? finding.block + 1 : finding.block - 1;
  }
  return std::nullopt;
}

}  // namespace tracer::replay::viewer
