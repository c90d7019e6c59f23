// Moving over the lines of a recording, and searching its rows: block by block, so that a person can break off what
// takes long.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "replay/viewer/pages.h"

namespace tracer::replay::viewer {

enum class Direction : std::uint8_t { forward, backward };

class Motion {
 public:
  using Wanted = std::function<bool(std::size_t block, const pipeline::views::Row&)>;
  /// Whether there can be anything in a block.
  using Within = std::function<bool(std::size_t block)>;

  /// `pages` outlives this.
  explicit Motion(Pages& pages) : pages_(pages) {}

  /// Starts to move over so many lines, or as many as there are. `or_back`: if there are none, to the one on the other
  /// side.
  void move(const Place& from, Direction direction, std::size_t lines, bool or_back = false);
  /// Starts to look for a row behind or before one, among all that the lens shows.
  /// `within`: the search ends at the first block where it returns false; empty: it goes through all.
  void find(std::size_t block, std::size_t row, Direction direction, Wanted wanted, Within within = {});

  [[nodiscard]] bool busy() const { return moving_ || finding_; }
  /// In which block it is.
  [[nodiscard]] std::size_t block() const { return finding_ ? finding_->block : moving_ ? moving_->at.block : 0; }
  void stop();
  /// Goes on for a block, or to the end of the motion. Returns where it has ended; nothing if it goes on, or if nothing
  /// was found.
  std::optional<Place> work();

 private:
  struct Moving {
    Place at;
    Direction direction;
    std::size_t left;
    bool or_back;
    bool moved;
  };
  struct Finding {
    std::size_t block;
    std::optional<std::size_t> row;  ///< empty: all of the block is to be searched
    Direction direction;
    Wanted wanted;
    Within within;
  };
  std::optional<Place> work_on_move();
  std::optional<Place> work_on_find();

  Pages& pages_;
  std::optional<Moving> moving_;
  std::optional<Finding> finding_;
};

}  // namespace tracer::replay::viewer
