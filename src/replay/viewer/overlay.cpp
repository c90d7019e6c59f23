#include "replay/viewer/overlay.h"

#include <algorithm>
#include <limits>

#include "replay/viewer/paint.h"

namespace tracer::replay::viewer {

namespace {

std::optional<Key> key_of(const Input& input) {
  if (const auto* pressed = std::get_if<Key>(&input)) {
    return *pressed;
  }
  constexpr std::pair<char, Key> keys[] = {{'k', Key::up},      {'j', Key::down}, {' ', Key::page_down},
                                           {'b', Key::page_up}, {'g', Key::home}, {'G', Key::end},
                                           {'q', Key::escape}};
  const auto* typed = std::get_if<char>(&input);
  const auto* const known = std::find_if(
      std::begin(keys), std::end(keys), [typed](const auto& each) { return typed != nullptr && each.first == *typed; });
  return known == std::end(keys) ? std::nullopt : std::optional(known->second);
}

}  // namespace

void Overlay::draw(std::vector<Line>& screen, std::size_t room, std::size_t columns) {
  const auto all = wrap(lines_, columns - 1);
  first_ = std::min(first_, all.size() > room ? all.size() - room : 0);
  for (std::size_t i = first_; i < all.size() && i - first_ < room; ++i) {
    screen.push_back({{Style::plain, all[i]}});
  }
}

bool Overlay::on_input(const Input& input, std::size_t room) {
  switch (key_of(input).value_or(Key::left)) {
    case Key::up:
      first_ -= std::min<std::size_t>(first_, 1);
      break;
    case Key::down:
      ++first_;
      break;
    case Key::page_up:
      first_ -= std::min(first_, room);
      break;
    case Key::page_down:
      first_ += room;
      break;
    case Key::home:
      first_ = 0;
      break;
    case Key::end:
      first_ = std::numeric_limits<std::size_t>::max() / 2;
      break;
    case Key::enter:
    case Key::escape:
    case Key::interrupt:
      return false;
    default:
      break;
  }
  return true;
}

}  // namespace tracer::replay::viewer
