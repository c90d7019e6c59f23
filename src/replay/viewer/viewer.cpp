#include "replay/viewer/viewer.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace tracer::replay::viewer {

namespace {

/// How long a person waits for the screen to change while something is searched.
constexpr std::chrono::milliseconds refresh(100);
constexpr std::size_t sideways = 20;  // columns

}  // namespace

Viewer::Viewer(Terminal& terminal, Recording& recording, ViewerOptions options)
    : terminal_(terminal),
      recording_(recording),
      options_(std::move(options)),
      pages_(recording, options_.utf8),
      motion_(pages_),
      layout_(pages_),
      message_(options_.missing) {
  Lens lens;
  lens.folds = options_.folds;
  pages_.use(std::move(lens));
  motion_.move({}, Direction::forward, 1);
}

int Viewer::run() {
  terminal_.start();
  while (!end_) {
    draw();
    const bool waits = !motion_.busy() && !layout_.unfinished();
    if (!waits) {
      work();
    }
    const Input input = terminal_.next(waits ? std::nullopt : std::optional(std::chrono::milliseconds(0)));
    if (!std::holds_alternative<Nothing>(input)) {
      on_input(input);
    }
  }
  terminal_.stop();
  return *end_;
}

/// Works for as long as the screen may stay as it is.
void Viewer::work() {
  const auto until = std::chrono::steady_clock::now() + refresh;
  while (motion_.busy() && std::chrono::steady_clock::now() < until) {
    const auto place = motion_.work();
    if (place) {
      cursor_ = place;
      finding_.clear();
    } else if (!motion_.busy() && !finding_.empty()) {
      message_ = "there is no more " + std::exchange(finding_, {});
    }
  }
}

// ---------------------------------------------------------------------------------------------- keys

void Viewer::on_input(const Input& input) {
  if (const auto* ended = std::get_if<Ended>(&input)) {
    end_ = ended->signal;
    return;
  }
  if (const auto* key = std::get_if<Key>(&input); key != nullptr && *key == Key::suspend) {
    terminal_.suspend();
    return;
  }
  if (std::holds_alternative<Resized>(input)) {
    return;
  }
  message_.clear();
  if (prompt_) {
    on_prompt(input);
  } else if (overlay_) {
    on_overlay(input);
  } else if (const auto* key = std::get_if<Key>(&input)) {
    on_key(*key);
  } else if (const auto* typed = std::get_if<char>(&input)) {
    on_char(*typed);
  }
}

void Viewer::on_key(Key key) {
  const bool breaks_off = key == Key::escape || key == Key::interrupt;
  if (breaks_off && motion_.busy()) {
    motion_.stop();
    finding_.clear();
    message_ = "stopped";
    return;
  }
  switch (key) {
    case Key::up:
      return move(Direction::backward, 1);
    case Key::down:
      return move(Direction::forward, 1);
    case Key::page_up:
      return move(Direction::backward, room());
    case Key::page_down:
      return move(Direction::forward, room());
    case Key::home:
      return motion_.move({}, Direction::forward, 1);
    case Key::end:
      return motion_.move({pages_.blocks(), -1}, Direction::backward, 1);
    case Key::left:
      columns_.skipped -= std::min(columns_.skipped, sideways);
      return;
    case Key::right:
      columns_.skipped += sideways;
      return;
    case Key::enter:
      return open_line();
    case Key::interrupt:
      end_ = 0;
      return;
    case Key::escape:
      sought_.clear();
      return;
    case Key::backspace:
    case Key::suspend:
      return;
  }
}

void Viewer::on_char(char typed) {
  const Row* row = cursor_ ? &pages_.row(*cursor_) : nullptr;
  Lens lens = pages_.lens();
  switch (typed) {
    case 'q':
      end_ = 0;
      return;
    case 'k':
      return on_key(Key::up);
    case 'j':
      return on_key(Key::down);
    case ' ':
      return on_key(Key::page_down);
    case 'b':
      return on_key(Key::page_up);
    case 'g':
      return on_key(Key::home);
    case 'G':
      return on_key(Key::end);
    case '/':
      prompt_ = Prompt{'/', {}};
      return;
    case 'f':
      prompt_ = Prompt{'f', filter_text_};
      return;
    case 'n':
      return search(Direction::forward);
    case 'N':
      return search(Direction::backward);
    case 'e':
      return next_failure(Direction::forward);
    case 'E':
      return next_failure(Direction::backward);
    case ']':
      return next_on_descriptor(Direction::forward);
    case '[':
      return next_on_descriptor(Direction::backward);
    case 'c':
      columns_.time = static_cast<TimeColumn>((static_cast<unsigned>(columns_.time) + 1) % time_columns);
      return;
    case 'd':
      columns_.durations = !columns_.durations;
      return;
    case '?':
      overlay_ = Overlay{help_lines()};
      return;
    case '+':
      if (cursor_ && pages_.line(*cursor_).opens_run) {
        pages_.toggle_run(*cursor_);
      }
      return;
    case 'z':
      lens.folds = !lens.folds;
      return change_lens(std::move(lens));
    case 'p':
      lens.process = lens.process == 0 && row != nullptr ? row->tgid : 0;
      return change_lens(std::move(lens));
    case 't':
      lens.thread = lens.thread == 0 && row != nullptr ? row->tid : 0;
      return change_lens(std::move(lens));
    case 'h':
      if (row != nullptr && row->kind == Row::Kind::call && pages_.line(*cursor_).fold.empty()) {
        lens.hidden.insert(row->name);
        change_lens(std::move(lens));
      }
      return;
    case 'H':
      lens.hidden.clear();
      return change_lens(std::move(lens));
    case 'a':
      return apply_filter({}, {});
    default:
      message_ = "? shows what the keys do";
      return;
  }
}

void Viewer::on_prompt(const Input& input) {
  if (const auto* typed = std::get_if<char>(&input)) {
    if (*typed >= ' ' && *typed < 0x7f) {
      prompt_->text += *typed;
    } else if (*typed == 0x15) {  // Ctrl-U
      prompt_->text.clear();
    }
    return;
  }
  const auto* key = std::get_if<Key>(&input);
  if (key == nullptr) {
    return;
  }
  if (*key == Key::backspace && !prompt_->text.empty()) {
    prompt_->text.pop_back();
  } else if (*key == Key::escape || *key == Key::interrupt || *key == Key::backspace) {
    prompt_.reset();
  } else if (*key == Key::enter) {
    const Prompt given = *std::exchange(prompt_, std::nullopt);
    if (given.kind == 'f') {
      apply_filter(given.text, pages_.lens());
    } else {
      sought_ = given.text.empty() ? sought_ : given.text;
      search(Direction::forward);
    }
  }
}

void Viewer::on_overlay(const Input& input) {
  const std::size_t page = room();
  Key key = Key::left;
  if (const auto* pressed = std::get_if<Key>(&input)) {
    key = *pressed;
  } else if (const auto* typed = std::get_if<char>(&input)) {
    switch (*typed) {
      case 'k':
        key = Key::up;
        break;
      case 'j':
        key = Key::down;
        break;
      case ' ':
        key = Key::page_down;
        break;
      case 'b':
        key = Key::page_up;
        break;
      case 'g':
        key = Key::home;
        break;
      case 'G':
        key = Key::end;
        break;
      case 'q':
        key = Key::escape;
        break;
      default:
        return;
    }
  }
  std::size_t& first = overlay_->first;
  switch (key) {
    case Key::up:
      first -= std::min<std::size_t>(first, 1);
      break;
    case Key::down:
      ++first;
      break;
    case Key::page_up:
      first -= std::min(first, page);
      break;
    case Key::page_down:
      first += page;
      break;
    case Key::home:
      first = 0;
      break;
    case Key::end:
      first = static_cast<std::size_t>(-1) / 2;
      break;
    case Key::enter:
    case Key::escape:
    case Key::interrupt:
      overlay_.reset();
      break;
    default:
      break;
  }
}

// ---------------------------------------------------------------------------------------------- motions

void Viewer::move(Direction direction, std::size_t lines) {
  if (cursor_) {
    motion_.move(*cursor_, direction, lines);
  }
}

void Viewer::find(Direction direction, Motion::Wanted wanted, std::string what) {
  if (cursor_) {
    finding_ = std::move(what);
    motion_.find(cursor_->block, pages_.line(*cursor_).row, direction, std::move(wanted));
  }
}

void Viewer::search(Direction direction) {
  if (sought_.empty()) {
    message_ = "/ searches for a text";
    return;
  }
  find(
      direction, [sought = sought_](const Row& row) { return find_text(row.text, sought) != std::string_view::npos; },
      "'" + sought_ + "'");
}

void Viewer::next_failure(Direction direction) {
  // What is folded away may fail, as a rule: optional files of the loader, polling.
  find(
      direction,
      [folds = pages_.lens().folds](const Row& row) { return row.failed && !(folds && row.rule != nullptr); },
      "failure");
}

void Viewer::next_on_descriptor(Direction direction) {
  const Row* row = cursor_ ? &pages_.row(*cursor_) : nullptr;
  if (row == nullptr || row->fds.empty()) {
    message_ = "there is no descriptor in this line";
    return;
  }
  find(
      direction,
      [fd = row->fds.back(), process = row->tgid](const Row& other) {
        return other.tgid == process && std::find(other.fds.begin(), other.fds.end(), fd) != other.fds.end();
      },
      fmt::format("call on descriptor {} of {}", row->fds.back(), row->tgid));
}

void Viewer::return_to(std::size_t block, std::size_t row) {
  motion_.stop();
  finding_.clear();
  cursor_ = pages_.place_of(block, row);
  if (!cursor_) {
    motion_.move({block + 1, -1}, Direction::forward, 1, true);
  }
}

void Viewer::change_lens(Lens lens) {
  const Place at = cursor_.value_or(Place{});
  const std::size_t row = cursor_ ? pages_.line(at).row : 0;
  pages_.use(std::move(lens));
  return_to(at.block, row);
}

void Viewer::apply_filter(const std::string& text, Lens lens) {
  auto filter = options_.read_filter(text);
  if (!filter) {
    message_ = filter.error().message;
    return;
  }
  filter_text_ = text;
  options_.filtered = false;
  // Another filter numbers the rows anew: the time finds the place.
  const std::size_t block = cursor_ ? cursor_->block : 0;
  const auto time = cursor_ ? pages_.row(*cursor_).time.monotonic : std::chrono::nanoseconds(0);
  recording_.filter(filter.value());
  lens.folds = options_.folds && text.empty();  // what is asked for by name is no noise
  pages_.forget(std::move(lens));
  if (block >= recording_.blocks()) {
    return;
  }
  const auto& rows = recording_.rows(block);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [time](const Row& row) { return row.time.monotonic >= time; });
  return_to(block, static_cast<std::size_t>(found - rows.begin()));
}

void Viewer::open_line() {
  if (!cursor_) {
    return;
  }
  if (!pages_.line(*cursor_).fold.empty()) {
    pages_.toggle_run(*cursor_);
  } else {
    show_details(*cursor_);
  }
}

void Viewer::show_details(const Place& place) {
  // The end of the call may be far away: whoever presses a key has waited long enough.
  constexpr unsigned soon = 64;  // blocks
  std::optional<Input> pressed;
  unsigned asked = 0;
  const auto goes_on = [&] {
    if (++asked == soon) {
      message_ = "looking for the end of the call; any key breaks off";
      draw();
    }
    if (!pressed) {
      const Input input = terminal_.next(std::chrono::milliseconds(0));
      pressed = std::holds_alternative<Nothing>(input) ? std::nullopt : std::optional(input);
    }
    return !pressed;
  };
  const auto row = recording_.details(place.block, pages_.line(place).row, goes_on);
  message_.clear();
  if (row) {
    overlay_ = Overlay{describe(*row, options_.start, !pressed)};
  }
  if (pressed && (std::holds_alternative<Ended>(*pressed) || std::holds_alternative<Resized>(*pressed))) {
    on_input(*pressed);
  }
}

}  // namespace tracer::replay::viewer
