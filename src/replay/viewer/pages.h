// The lines of a recording that a person can move over: those of its blocks, as far as they were decoded.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "replay/viewer/lines.h"
#include "replay/viewer/recording.h"

namespace tracer::replay::viewer {

/// A line; -1 stands before the first one of the block.
struct Place {
  std::size_t block = 0;
  std::ptrdiff_t line = -1;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Pages {
 public:
  /// `recording` outlives this.
  Pages(Recording& recording, bool utf8) : recording_(recording), utf8_(utf8), counts_(recording.blocks()) {}

  enum class Step : std::uint8_t {
    moved,
    end,      ///< there is no line
    unknown,  ///< that depends on the block unknown_block(), which load() decodes
  };
  Step next(Place& place);
  Step previous(Place& place);
  [[nodiscard]] std::size_t unknown_block() const { return unknown_; }
  void load(std::size_t block) { static_cast<void>(lines(block)); }

  [[nodiscard]] const ShownLine& line(const Place& place) {
    return lines(place.block)[static_cast<std::size_t>(place.line)];
  }
  /// The row of a line, valid until the next call.
  [[nodiscard]] const pipeline::views::Row& row(const Place& place) {
    const std::size_t number = line(place).row;
    return recording_.rows(place.block)[number];
  }
  /// How far into the recording a line ends, in parts of one.
  [[nodiscard]] double part_up_to(const Place& place) const;
  [[nodiscard]] std::size_t blocks() const { return counts_.size(); }
  [[nodiscard]] Recording& recording() { return recording_; }

  [[nodiscard]] const Lens& lens() const { return lens_; }
  void use(Lens lens);
  /// The recording has grown: lines may have others' numbers.
  void grow();
  /// The rows are others from now on.
  void forget(Lens lens);
  /// Folds or unfolds the run that a line stands for, or begins.
  void toggle_run(const Place& place);
  /// Returns the line of a row, or of the first shown one behind it in its block. A row that is folded away is
  /// unfolded.
  std::optional<Place> place_of(std::size_t block, std::size_t row);
  /// Whether rows of more than one thread were seen.
  [[nodiscard]] bool several_threads() const { return several_threads_; }

 private:
  const std::vector<ShownLine>& lines(std::size_t block);
  void see_threads(const Recording::Rows& rows);

  Recording& recording_;
  bool utf8_;
  Lens lens_;
  std::vector<std::optional<std::size_t>> counts_;  ///< lines of each block
  std::map<std::size_t, std::vector<ShownLine>> lines_;
  std::map<std::size_t, std::set<std::size_t>> opened_;  ///< runs, by block
  std::size_t unknown_ = 0;
  pid_t thread_ = 0;
  bool several_threads_ = false;
};

}  // namespace tracer::replay::viewer
