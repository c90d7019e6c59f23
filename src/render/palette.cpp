#include "render/palette.h"

#include <algorithm>

namespace tracer::render {

namespace {

constexpr std::string_view begin_sequence = "\033[";
constexpr std::string_view end_color = "\033[0m";

/// Enough for all attributes at once. The value goes to a terminal, so only digits and semicolons are valid.
constexpr std::size_t longest_sgr = 64;

bool is_sgr(std::string_view text) {
  return text.size() <= longest_sgr && text.find_first_not_of("0123456789;") == std::string_view::npos;
}

}  // namespace

Palette Palette::default_colors() {
  Palette palette;
  palette.change("syscall=01:argname=36:call=35:const=33:comment=02:retval=32:error=31");
  return palette;
}

std::vector<std::string> Palette::change(std::string_view text) {
  std::vector<std::string> rejected;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const auto equals = item.find('=');
    const auto* const key = std::find(color_keys.begin(), color_keys.end(), item.substr(0, equals));
    if (equals == std::string_view::npos || key == color_keys.end() || !is_sgr(item.substr(equals + 1))) {
      if (!item.empty()) {
        rejected.emplace_back(item);
      }
      continue;
    }
    sgr_[static_cast<std::size_t>(key - color_keys.begin())] = item.substr(equals + 1);
  }
  paints_ = std::any_of(sgr_.begin(), sgr_.end(), [](const std::string& sgr) { return !sgr.empty(); });
  return rejected;
}

std::size_t Brush::begin(TextBuffer& text, std::string_view sgr) {
  if (!sgr.empty()) {
    text.append(begin_sequence);
    text.append(sgr);
    text.append('m');
  }
  return text.size();
}

void Brush::end() {
  if (text_.size() == content_) {
    text_.truncate(start_);
  } else {
    text_.append(end_color);
  }
}

std::size_t visible_width(std::string_view line) {
  std::size_t width = line.size();
  for (auto at = line.find(begin_sequence); at != std::string_view::npos; at = line.find(begin_sequence, at)) {
    const auto end = std::min(line.find('m', at), line.size() - 1) + 1;
    width -= end - at;
    at = end;
  }
  return width;
}

}  // namespace tracer::render
