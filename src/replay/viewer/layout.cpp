#include "replay/viewer/layout.h"

#include <algorithm>

namespace tracer::replay::viewer {

namespace {

/// How long a person waits for the screen.
constexpr std::chrono::milliseconds patience(60);

}  // namespace

void Layout::clear() {
  places_.clear();
  unfinished_ = false;
}

void Layout::arrange(const Place& cursor, std::size_t room) {
  fill(room);
  if (std::find(places_.begin(), places_.end(), cursor) == places_.end()) {
    put_cursor(cursor, room);
    fill(room);
  }
  if (!unfinished_ && places_.size() < room && !places_.empty()) {
    put_top(places_.back(), room - 1);  // the end stands at the bottom
    fill(room);
  }
}

/// A step further scrolls by a line, a page by a page; what is far away comes to the middle.
void Layout::put_cursor(const Place& cursor, std::size_t room) {
  const auto is_near = [&](const Place& from, const Place& to) {
    return from.block == to.block && to.line - from.line <= static_cast<std::ptrdiff_t>(room);
  };
  const bool is_below = !places_.empty() && cursor > places_.back();
  const bool is_above = !places_.empty() && cursor < places_.front();
  Place before = cursor;
  Place behind = cursor;
  const bool scrolls_down = is_below && (is_near(places_.back(), cursor) ||
                                         (pages_.previous(before) == Pages::Step::moved && before == places_.back()));
  const bool scrolls_up = is_above && (is_near(cursor, places_.front()) ||
                                       (pages_.next(behind) == Pages::Step::moved && behind == places_.front()));
  put_top(cursor, scrolls_down ? room - 1 : scrolls_up ? 0 : room / 2);
}

void Layout::put_top(const Place& before, std::size_t lines) {
  const auto until = std::chrono::steady_clock::now() + patience;
  top_ = before;
  for (std::size_t i = 0; i < lines;) {
    const auto step = pages_.previous(top_);
    if (step == Pages::Step::end || (step == Pages::Step::unknown && std::chrono::steady_clock::now() >= until)) {
      return;
    }
    if (step == Pages::Step::unknown) {
      pages_.load(pages_.unknown_block());
    } else {
      ++i;
    }
  }
}

void Layout::fill(std::size_t room) {
  const auto until = std::chrono::steady_clock::now() + patience;
  clear();
  Place at{top_.block, std::max<std::ptrdiff_t>(top_.line, 0) - 1};
  while (places_.size() < room) {
    const auto step = pages_.next(at);
    if (step == Pages::Step::end) {
      return;
    }
    if (step == Pages::Step::moved) {
      places_.push_back(at);
    } else if (std::chrono::steady_clock::now() < until) {
      pages_.load(pages_.unknown_block());
    } else {
      unfinished_ = true;
      return;
    }
  }
}

}  // namespace tracer::replay::viewer
