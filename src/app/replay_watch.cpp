#include "app/replay_watch.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "base/write_all.h"

namespace tracer::app {
namespace {

constexpr std::chrono::seconds until_first(1);
constexpr std::chrono::milliseconds between(200);

}  // namespace

ReplayWatch::ReplayWatch(std::string name, std::uint64_t size, bool shows_progress,
                         std::function<void(std::string_view)> complain)
    : name_(std::move(name)),
      size_(size),
      shows_progress_(shows_progress),
      complain_(std::move(complain)),
      signals_(process::Interruptible::waiting),
      next_(std::chrono::steady_clock::now() + until_first) {}

int ReplayWatch::look(std::uint64_t position) {
  if (!signals_) {
    return 0;
  }
  int signal = signals_->next();
  while (signal == SIGCHLD) {
    signal = signals_->next();
  }
  if (signal != 0) {
    clear();
    complain_(fmt::format("{}: interrupted after {}", name_, how_far(position)));
    signals_.reset();  // the next one ends the program, whatever it is doing
  } else if (shows_progress_ && std::chrono::steady_clock::now() >= next_) {
    show(position);
  }
  return signal;
}

std::string ReplayWatch::how_far(std::uint64_t position) const {
  constexpr std::uint64_t percent = 100;
  constexpr std::uint64_t megabyte = 1U << 20U;
  return size_ != 0 ? fmt::format("{} %", position * percent / size_) : fmt::format("{} MB", position / megabyte);
}

void ReplayWatch::show(std::uint64_t position) {
  const std::string line = fmt::format("{}: {}", name_, how_far(position));
  clear();
  static_cast<void>(write_all(STDERR_FILENO, line));
  shown_ = line.size();
  next_ = std::chrono::steady_clock::now() + between;
}

void ReplayWatch::clear() {
  if (std::exchange(shown_, 0) != 0) {
    static_cast<void>(write_all(STDERR_FILENO, "\r\x1b[K"));
  }
}

}  // namespace tracer::app
