#include "app/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"
#ifdef TRACER_TERMINFO
// This header comes last: it defines short words as macros.
#include <curses.h>
#include <term.h>
#endif

namespace tracer::app {

bool is_color_terminal(int fd) {
#ifdef TRACER_TERMINFO
  constexpr int enough = 8;
  int error = 0;
  return ::isatty(fd) == 1 && ::setupterm(nullptr, fd, &error) == OK && ::tigetnum("colors") >= enough;
#else
  static_cast<void>(fd);
  return false;
#endif
}

namespace {

UniqueFd open_device(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) {
    return {};  // other files are not opened: that may block, or rewind a tape
  }
  return UniqueFd(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

bool is_color_terminal(const std::string& path) {
  const UniqueFd fd = open_device(path);
  return fd.valid() && is_color_terminal(fd.get());
}

bool wants_colors(cli::Color color, const std::function<bool()>& is_color_terminal) {
  if (color != cli::Color::automatic) {
    return color == cli::Color::always;
  }
  const char* unwanted = std::getenv("NO_COLOR");
  return (unwanted == nullptr || *unwanted == 0) && is_color_terminal();
}

bool is_terminal(const std::string& path) {
  const UniqueFd fd = open_device(path);
  return fd.valid() && ::isatty(fd.get()) == 1;
}

unsigned terminal_columns() {
  constexpr unsigned most = 10000;
  if (const char* asked = std::getenv("COLUMNS"); asked != nullptr) {
    const unsigned long value = std::strtoul(asked, nullptr, 10);
    return value > most ? 0 : static_cast<unsigned>(value);
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
      return size.ws_col;
    }
  }
  return 0;
}

bool has_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != 0) {
      return ::strcasestr(value, "utf-8") != nullptr || ::strcasestr(value, "utf8") != nullptr;
    }
  }
  return false;
}

}  // namespace tracer::app
