// --view: a person looks through a recording on a terminal.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/viewer/layout.h"
#include "replay/viewer/motion.h"
#include "replay/viewer/open_file.h"
#include "replay/viewer/overlay.h"
#include "replay/viewer/pages.h"
#include "replay/viewer/paint.h"
#include "replay/viewer/recording.h"
#include "replay/viewer/terminal.h"

namespace tracer::replay::viewer {

struct ViewerOptions {
  std::string title;
  std::string missing;               ///< what the recording lacks; empty: nothing
  std::chrono::nanoseconds start{};  ///< of the recording (CLOCK_REALTIME)
  bool filtered = false;             ///< the recording has a filter already
  bool folds = true;
  bool utf8 = false;
  /// Reads a filter as a person has typed it.
  std::function<Result<pipeline::FilterOptions>(const std::string&)> read_filter;
  /// Returns in lines why the process of a row failed, as --explain does; nothing once `goes_on` returns false.
  using GoesOn = std::function<bool(std::size_t block)>;
  std::function<std::optional<std::vector<std::string>>(pid_t process, std::size_t block, const GoesOn& goes_on)>
      explain;
};

class Viewer {
 public:
  /// All arguments outlive this.
  Viewer(Terminal& terminal, Recording& recording, ViewerOptions options);

  /// Returns when the person has had enough: 0, or the signal that ended it.
  int run();

 private:
  using Row = pipeline::views::Row;
  struct Prompt {
    char kind;  ///< '/' or 'f'
    std::string text;
  };

  // What is on the screen (screen.cpp).
  void draw();
  [[nodiscard]] std::size_t room() const;
  void draw_rows(std::vector<Line>& lines);
  [[nodiscard]] Line status();
  [[nodiscard]] Line foot() const;

  // What keys do (viewer.cpp).
  void on_input(const Input& input);
  void on_key(Key key);
  void on_char(char typed);
  void on_prompt(const Input& input);
  void move(Direction direction, std::size_t lines);
  void find(Direction direction, Motion::Wanted wanted, std::string what, Motion::Within within = {});
  void search(Direction direction);
  void next_failure(Direction direction);
  /// Looks for a call on the same open file.
  void next_on_descriptor(Direction direction);
  void apply_filter(const std::string& text, Lens lens);
  void change_lens(Lens lens);
  /// Goes to the row where the cursor was, or to the next one that is shown.
  void return_to(std::size_t block, std::size_t row);
  void open_line();
  void show_details(const Place& place);
  void show_verdict();
  void show_manual_page();
  /// Takes in what a recorder has written since.
  void take_in_more();
  void work();

  Terminal& terminal_;
  Recording& recording_;
  ViewerOptions options_;
  Pages pages_;
  Motion motion_;
  Layout layout_;
  std::string sought_;       ///< what is searched for
  std::string finding_;      ///< what the motion looks for, in words; empty: it only moves
  std::string filter_text_;  ///< as it was typed
  std::string message_;      ///< until the next key
  Columns columns_;
  std::optional<Prompt> prompt_;
  std::optional<Overlay> overlay_;
  std::shared_ptr<OpenFile> open_file_;  ///< that of the last motion to a call on the same one
  std::optional<Place> cursor_;          ///< empty: there is no line, or it is not found yet
  std::optional<int> end_;               ///< 0, or a signal
};

}  // namespace tracer::replay::viewer
