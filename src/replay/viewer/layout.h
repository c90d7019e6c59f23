// Which lines stand on the screen.
#pragma once

#include <chrono>
#include <vector>

#include "replay/viewer/pages.h"

namespace tracer::replay::viewer {

class Layout {
 public:
  /// `pages` outlives this.
  explicit Layout(Pages& pages) : pages_(pages) {}

  /// Finds so many lines that the cursor is among them, if possible where they were. What takes long is left for the
  /// next time.
  void arrange(const Place& cursor, std::size_t room);
  void clear();

  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  /// Whether there may be more lines than were found in time.
  [[nodiscard]] bool unfinished() const { return unfinished_; }

 private:
  void fill(std::size_t room);
  /// Chooses the top so that the cursor is among the lines.
  void put_cursor(const Place& cursor, std::size_t room);
  /// Makes that line the top which stands so many lines before another.
  void put_top(const Place& before, std::size_t lines);

  Pages& pages_;
  Place top_;
  std::vector<Place> places_;
  bool unfinished_ = false;
};

}  // namespace tracer::replay::viewer
