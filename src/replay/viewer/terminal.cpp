#include "replay/viewer/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/write_all.h"

namespace tracer::replay::viewer {

namespace {

/// How long the rest of a key may take that begins with an escape.
constexpr std::chrono::milliseconds key_rest(50);
constexpr char escape = '\033';

/// Those that would end or stop this program while the screen is taken.
sigset_t taken_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal :
       {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2}) {
    ::sigaddset(&set, signal);
  }
  return set;
}

/// Appends what a terminal can show: ASCII, and the two signs that lines of folds have.
std::size_t append_shown(std::string& to, std::string_view text, std::size_t most) {
  std::size_t width = 0;
  while (!text.empty() && width < most) {
    std::size_t length = 1;
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte >= 0x20 && byte < 0x7f) {
      to += text.front();
    } else if (text.starts_with("⋯") || text.starts_with("µ")) {
      length = text.starts_with("⋯") ? 3 : 2;
      to += text.substr(0, length);
    } else {
      to += '?';
      while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        ++length;
      }
    }
    text.remove_prefix(length);
    ++width;
  }
  return width;
}

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open(bool colors) {
  UniqueFd tty(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!tty.valid()) {
    return Error{errno, std::string("there is no terminal: /dev/tty: ") + std::strerror(errno)};
  }
  auto can = find_capabilities(tty.get(), colors);
  if (!can) {
    return can.error();
  }
  return std::unique_ptr<Terminal>(new Terminal(std::move(tty), std::move(can).value()));
}

Terminal::~Terminal() {
  stop();
}

void Terminal::start() {
  if (started_ || ::tcgetattr(tty_.get(), &before_) != 0) {
    return;
  }
  const sigset_t taken = taken_signals();
  ::sigprocmask(SIG_BLOCK, &taken, &mask_before_);
  signals_ = UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON | ISTRIP);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(tty_.get(), TCSADRAIN, &raw);
  started_ = true;
  shown_.clear();
  measure();
  static_cast<void>(write_all(tty_.get(), can_.enter + can_.keypad_on + can_.clear));
}

void Terminal::stop() {
  if (!started_) {
    return;
  }
  started_ = false;
  static_cast<void>(write_all(tty_.get(), can_.normal + can_.move_to(rows_ - 1, 0) + can_.to_line_end +
                                              can_.keypad_off + can_.show_cursor + can_.leave));
  ::tcsetattr(tty_.get(), TCSADRAIN, &before_);
  signals_.reset();
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Terminal::suspend() {
  stop();
  ::raise(SIGSTOP);
  start();
}

void Terminal::measure() {
  winsize size{};
  if (::ioctl(tty_.get(), TIOCGWINSZ, &size) == 0 && size.ws_row != 0 && size.ws_col != 0) {
    rows_ = size.ws_row;
    columns_ = size.ws_col;
  }
}

// ---------------------------------------------------------------------------------------------- output

/// The last column stays empty: terminals differ in what they do behind it.
std::string Terminal::drawn(const Line& line) const {
  std::string text;
  std::size_t left = columns_ - 1;
  for (const auto& [style, piece] : line) {
    text += can_.styles[static_cast<std::size_t>(style)];
    left -= append_shown(text, piece, left);
    if (style != Style::plain) {
      text += can_.normal;
    }
  }
  return text;
}

void Terminal::show(const std::vector<Line>& lines, std::optional<std::size_t> cursor) {
  std::string bytes = can_.hide_cursor;
  if (shown_.size() != rows_) {
    shown_.assign(rows_, {});
    bytes += can_.normal + can_.clear;
  }
  for (std::size_t row = 0; row < rows_; ++row) {
    std::string text = row < lines.size() ? drawn(lines[row]) : std::string();
    if (text != shown_[row]) {
      bytes += can_.move_to(row, 0) + can_.to_line_end + text;
      shown_[row] = std::move(text);
    }
  }
  if (cursor) {
    bytes += can_.move_to(rows_ - 1, std::min(*cursor, columns_ - 1)) + can_.show_cursor;
  }
  static_cast<void>(write_all(tty_.get(), bytes));
}

// ---------------------------------------------------------------------------------------------- input

std::optional<Input> Terminal::read_signal() {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) != sizeof info) {
    return std::nullopt;
  }
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGWINCH) {
    measure();
    shown_.clear();
    return Resized{};
  }
  return signal == SIGTSTP ? Input(Key::suspend) : Input(Ended{signal});
}

std::optional<Input> Terminal::take_key(bool all_there) {
  if (typed_.empty()) {
    return std::nullopt;
  }
  const std::pair<std::string, Key>* found = nullptr;
  bool may_go_on = typed_.front() == escape && typed_.size() == 1;
  for (const auto& known : can_.keys) {
    if (typed_.starts_with(known.first) && (found == nullptr || known.first.size() > found->first.size())) {
      found = &known;
    }
    may_go_on = may_go_on || (known.first.size() > typed_.size() && known.first.starts_with(typed_));
  }
  if (found != nullptr) {
    typed_.erase(0, found->first.size());
    return found->second;
  }
  if (may_go_on && !all_there) {
    return std::nullopt;
  }
  if (typed_.front() == escape) {
    // A key that is not known is passed over as a whole, so that its rest is not taken for other keys.
    const bool is_alone = typed_.size() == 1;
    typed_.clear();
    return is_alone ? Input(Key::escape) : Input(Nothing{});
  }
  const char typed = typed_.front();
  typed_.erase(0, 1);
  return typed;
}

Input Terminal::next(std::optional<std::chrono::milliseconds> longest) {
  if (auto key = take_key(false)) {
    return *key;
  }
  while (true) {
    pollfd waited[] = {{tty_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    const bool in_key = !typed_.empty();
    const auto limit = in_key ? std::optional(key_rest) : longest;
    const int ready = ::poll(waited, 2, limit ? static_cast<int>(limit->count()) : -1);
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0) {
      return take_key(true).value_or(Nothing{});
    }
    if (waited[1].revents != 0) {
      if (auto signal = read_signal()) {
        return *signal;
      }
      continue;
    }
    char bytes[256];
    const ssize_t got = ::read(tty_.get(), bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
      return Ended{SIGHUP};
    }
    typed_.append(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (auto key = take_key(false)) {
      return *key;
    }
  }
}

}  // namespace tracer::replay::viewer
