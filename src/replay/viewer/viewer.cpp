#include "replay/viewer/viewer.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "replay/viewer/manual_page.h"

namespace tracer::replay::viewer {

namespace {

/// How long a person waits for the screen to change while something is searched.
constexpr std::chrono::milliseconds refresh(100);
constexpr std::size_t sideways = 20;  // columns
/// How often is looked for what a recorder has written.
constexpr std::chrono::milliseconds growth(300);

/// Whether a person waits for what takes long: until a key comes.
class Patience {
 public:
  explicit Patience(Terminal& terminal) : terminal_(terminal) {}
  bool goes_on() {
    if (!pressed_) {
      const Input input = terminal_.next(std::chrono::milliseconds(0));
      pressed_ = std::holds_alternative<Nothing>(input) ? std::nullopt : std::optional(input);
    }
    return !pressed_;
  }
  /// The input that has to be handled although it came meanwhile.
  [[nodiscard]] std::optional<Input> urgent() const {
    const bool is_urgent =
        pressed_ && (std::holds_alternative<Ended>(*pressed_) || std::holds_alternative<Resized>(*pressed_));
    return is_urgent ? pressed_ : std::nullopt;
  }
  [[nodiscard]] bool ended() const { return pressed_.has_value(); }

 private:
  Terminal& terminal_;
  std::optional<Input> pressed_;
};

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
    const auto longest = !waits                  ? std::optional(std::chrono::milliseconds(0))
                         : recording_.may_grow() ? std::optional(growth)
                                                 : std::nullopt;
    const Input input = terminal_.next(longest);
    if (!std::holds_alternative<Nothing>(input)) {
      on_input(input);
    } else if (waits) {
      take_in_more();
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
    if (!overlay_->on_input(input, room())) {
      overlay_.reset();
    }
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
    case 'x':
      return show_verdict();
    case 'm':
      return show_manual_page();
    case 'c':
      columns_.time = static_cast<TimeColumn>((static_cast<unsigned>(columns_.time) + 1) % time_columns);
      return;
    case 'd':
      columns_.durations = !columns_.durations;
      return;
    case '?':
      overlay_.emplace(help_lines());
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

// ---------------------------------------------------------------------------------------------- motions

void Viewer::move(Direction direction, std::size_t lines) {
  if (cursor_) {
    motion_.move(*cursor_, direction, lines);
  }
}

void Viewer::find(Direction direction, Motion::Wanted wanted, std::string what, Motion::Within within) {
  if (cursor_) {
    finding_ = std::move(what);
    motion_.find(cursor_->block, pages_.line(*cursor_).row, direction, std::move(wanted), std::move(within));
  }
}

void Viewer::search(Direction direction) {
  if (sought_.empty()) {
    message_ = "/ searches for a text";
    return;
  }
  find(
      direction,
      [sought = sought_](std::size_t, const Row& row) { return find_text(row.text, sought) != std::string_view::npos; },
      "'" + sought_ + "'");
}

void Viewer::next_failure(Direction direction) {
  // What is folded away may fail, as a rule: optional files of the loader, polling.
  find(
      direction,
      [folds = pages_.lens().folds](std::size_t, const Row& row) {
        return row.failed && !(folds && row.rule != nullptr);
      },
      "failure");
}

void Viewer::next_on_descriptor(Direction direction) {
  const Row* row = cursor_ ? &pages_.row(*cursor_) : nullptr;
  if (row == nullptr || row->fds.empty()) {
    message_ = "there is no descriptor in this line";
    return;
  }
  const std::size_t block = cursor_->block;
  const std::int32_t fd = row->fds.back();
  if (open_file_ == nullptr || !open_file_->is_in(block, *row)) {
    open_file_ = std::make_shared<OpenFile>(recording_, block, *row, fd);
  }
  find(
      direction, [file = open_file_](std::size_t at, const Row& other) { return file->is_in(at, other); },
      fmt::format("call on the file of descriptor {} of {}", fd, row->tgid),
      [file = open_file_](std::size_t at) { return file->is_open_in(at); });
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
  Patience patience(terminal_);
  unsigned asked = 0;
  const auto goes_on = [&] {
    if (++asked == soon) {
      message_ = "looking for the end of the call; any key breaks off";
      draw();
    }
    return patience.goes_on();
  };
  const auto row = recording_.details(place.block, pages_.line(place).row, goes_on);
  message_.clear();
  if (row) {
    overlay_.emplace(describe(*row, options_.start, !patience.ended()));
  }
  if (const auto urgent = patience.urgent()) {
    on_input(*urgent);
  }
}

void Viewer::show_verdict() {
  if (!cursor_) {
    return;
  }
  Patience patience(terminal_);
  auto drawn = std::chrono::steady_clock::now();
  const auto goes_on = [&](std::size_t block) {
    if (const auto now = std::chrono::steady_clock::now(); now - drawn >= refresh) {
      drawn = now;
      message_ = fmt::format("looking at what the process did: {:.0f} %; any key breaks off",
                             recording_.part_before(block) * 100);
      draw();
    }
    return patience.goes_on();
  };
  auto lines = options_.explain(pages_.row(*cursor_).tgid, cursor_->block, goes_on);
  message_ = lines ? "" : "stopped";
  if (lines) {
    overlay_.emplace(std::move(*lines));
  }
  if (const auto urgent = patience.urgent()) {
    on_input(*urgent);
  }
}

void Viewer::show_manual_page() {
  const Row* row = cursor_ ? &pages_.row(*cursor_) : nullptr;
  if (row == nullptr || row->kind != Row::Kind::call || !pages_.line(*cursor_).fold.empty()) {
    message_ = "there is no call in this line";
    return;
  }
  const ManualPage page{row->name, row->is_function ? '3' : '2'};
  message_ = missing_page(page);
  if (message_.empty()) {
    terminal_.stop();
    show_page(page);
    terminal_.start();
  }
}

void Viewer::take_in_more() {
  const std::size_t before = recording_.blocks();
  Place behind = cursor_.value_or(Place{});
  const bool was_at_end = !cursor_ || (overlay_ == std::nullopt && pages_.next(behind) == Pages::Step::end);
  const std::size_t row = cursor_ ? pages_.line(*cursor_).row : 0;
  if (!recording_.grow()) {
    return;
  }
  if (!recording_.may_grow()) {
    message_ = "the recording has ended";
  }
  if (recording_.blocks() == before) {
    return;
  }
  pages_.grow();
  open_file_.reset();
  if (!cursor_) {
    motion_.move({}, Direction::forward, 1);
  } else if (was_at_end) {  // whoever stands at the end sees what is new
    motion_.move({pages_.blocks(), -1}, Direction::backward, 1);
  } else {
    return_to(cursor_->block, row);
  }
}

}  // namespace tracer::replay::viewer
