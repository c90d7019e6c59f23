// What the viewer shows.
#include <fmt/core.h>

#include <algorithm>

#include "replay/viewer/viewer.h"

namespace tracer::replay::viewer {

/// The first line of the screen says what is shown, the last two where, and what can be done.
std::size_t Viewer::room() const {
  return terminal_.rows() > 4 ? terminal_.rows() - 3 : 1;
}

void Viewer::draw() {
  if (cursor_) {
    layout_.arrange(*cursor_, room());
  } else {
    layout_.clear();
  }
  std::vector<Line> lines;
  lines.push_back({{Style::reverse, options_.title}, {Style::reverse, std::string(terminal_.columns(), ' ')}});
  if (overlay_) {
    overlay_->draw(lines, room(), terminal_.columns());
  } else {
    draw_rows(lines);
  }
  lines.resize(std::max<std::size_t>(terminal_.rows(), 3) - 2);
  lines.push_back(status());
  lines.push_back(foot());
  std::optional<std::size_t> cursor;
  if (prompt_) {
    cursor = lines.back().front().second.size() + prompt_->text.size();
  }
  terminal_.show(lines, cursor);
}

// ---------------------------------------------------------------------------------------------- lines

void Viewer::draw_rows(std::vector<Line>& lines) {
  columns_.threads = pages_.several_threads();
  columns_.width = terminal_.columns();
  Background background{options_.start, std::nullopt, sought_, false};
  for (const Place& place : layout_.places()) {
    const ShownLine& shown = pages_.line(place);
    const Row& row = pages_.row(place);
    background.is_current = cursor_ && place == *cursor_;
    lines.push_back(paint(row, shown, columns_, background));
    if (background.is_current) {
      lines.back().emplace_back(Style::reverse, std::string(terminal_.columns(), ' '));
    }
    background.before = row.time.realtime;
  }
  if (layout_.places().empty()) {
    lines.push_back({{Style::dim, motion_.busy() ? "..." : "There is nothing to show: a shows all."}});
  }
}

Line Viewer::status() {
  std::string text;
  if (cursor_) {
    const double part = layout_.places().empty() ? 0 : pages_.part_up_to(layout_.places().back());
    Place behind = layout_.places().empty() ? *cursor_ : layout_.places().back();
    const auto step = pages_.next(behind);
    text +=
        step == Pages::Step::end ? (recording_.may_grow() ? "end so far" : "end") : fmt::format("{:.0f} %", part * 100);
  }
  const Lens& lens = pages_.lens();
  if (!filter_text_.empty()) {
    text += "  filter: " + filter_text_;
  } else if (options_.filtered) {
    text += "  filter: that of the command line";
  }
  if (lens.process != 0) {
    text += fmt::format("  process {} alone", lens.process);
  }
  if (lens.thread != 0) {
    text += fmt::format("  thread {} alone", lens.thread);
  }
  if (!lens.hidden.empty()) {
    text += "  hidden:";
    for (const std::string& name : lens.hidden) {
      text += ' ' + name;
    }
  }
  if (!lens.folds) {
    text += "  not folded";
  }
  if (const std::size_t damaged = recording_.damaged(); damaged != 0) {
    text += fmt::format("  {} damaged", damaged);
  }
  if (motion_.busy() || layout_.unfinished()) {
    const std::size_t block = motion_.busy() ? motion_.block() : pages_.unknown_block();
    text += fmt::format("  {} {:.0f} %", finding_.empty() ? "reading" : "looking for " + finding_,
                        recording_.part_before(block) * 100);
  }
  return {{Style::dim, text}};
}

Line Viewer::foot() const {
  if (prompt_) {
    return {{Style::bold, prompt_->kind == '/' ? "/" : "filter: "}, {Style::plain, prompt_->text}};
  }
  if (!message_.empty()) {
    return {{Style::bold, message_}};
  }
  return {{Style::plain,
           overlay_ ? "Up Down PgUp PgDn move   q back"
                    : "q quit  ? keys  / search  f filter  e failure  x explain  Enter details  p process  z fold"}};
}

}  // namespace tracer::replay::viewer
