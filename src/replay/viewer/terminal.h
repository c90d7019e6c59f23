// A terminal that is drawn on by terminfo(5): the whole screen, keys, and its state before, which comes back on every
// way out.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "replay/viewer/capabilities.h"

namespace tracer::replay::viewer {

/// A line of the screen in pieces of one style each. Only what is printable is shown as it is.
using Line = std::vector<std::pair<Style, std::string>>;

struct Resized {};
/// A signal came that ends the program, or the terminal is gone (SIGHUP).
struct Ended {
  int signal = 0;
};
/// Nothing came in time.
struct Nothing {};
using Input = std::variant<Nothing, char, Key, Resized, Ended>;

class Terminal {
 public:
  /// Opens the controlling terminal, and checks that it can show what it has to, without changing it. An error says in
  /// words why it cannot.
  static Result<std::unique_ptr<Terminal>> open(bool colors);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  /// Ends what start() began.
  ~Terminal();

  /// Takes the screen and the signals that would end this program or stop it.
  void start();
  /// Gives the terminal back as it was.
  void stop();

  /// Waits for a key or a signal; without a time, for as long as it takes.
  Input next(std::optional<std::chrono::milliseconds> longest);
  /// Stops this program (SIGSTOP), and takes the screen again when it goes on.
  void suspend();

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  /// Shows the lines from the top on. `cursor`: a column of the last line.
  void show(const std::vector<Line>& lines, std::optional<std::size_t> cursor);

 private:
  Terminal(UniqueFd tty, Capabilities can) : tty_(std::move(tty)), can_(std::move(can)) {}
  void measure();
  [[nodiscard]] std::string drawn(const Line& line) const;
  std::optional<Input> read_signal();
  /// Takes a key from the start of `typed_`; nothing if there is no whole one.
  std::optional<Input> take_key(bool all_there);

  UniqueFd tty_;
  Capabilities can_;
  UniqueFd signals_;
  termios before_{};
  sigset_t mask_before_{};
  bool started_ = false;
  std::size_t rows_ = 24;
  std::size_t columns_ = 80;
  std::string typed_;               ///< and not taken yet
  std::vector<std::string> shown_;  ///< the lines on the screen
};

}  // namespace tracer::replay::viewer
