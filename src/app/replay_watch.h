// A replay under the eyes of its user: how far it is, and the signals that end it with what there is so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "process/signal_watch.h"

namespace tracer::app {

class ReplayWatch {
 public:
  /// `name` and `size`, in bytes, are those of the file; the size is 0 if it is not known. `shows_progress`: on
  /// standard error, which must be a terminal that nothing else is written to meanwhile. `complain` hears of an
  /// interruption.
  ReplayWatch(std::string name, std::uint64_t size, bool shows_progress,
              std::function<void(std::string_view)> complain);
  ~ReplayWatch() { clear(); }
  ReplayWatch(const ReplayWatch&) = delete;
  ReplayWatch& operator=(const ReplayWatch&) = delete;

  /// It is readable when a signal has come.
  [[nodiscard]] int fd() const { return signals_->fd(); }
  /// To be called often, with the number of bytes that were read. Returns the signal that ends the replay; 0: none.
  int look(std::uint64_t position);
  /// Takes the progress from the terminal, before something else is written there.
  void clear();

 private:
  [[nodiscard]] std::string how_far(std::uint64_t position) const;
  void show(std::uint64_t position);

  std::string name_;
  std::uint64_t size_;
  bool shows_progress_;
  std::function<void(std::string_view)> complain_;
  std::optional<process::SignalWatch> signals_;
  std::chrono::steady_clock::time_point next_;  ///< when to show the progress again
  std::size_t shown_ = 0;                       ///< columns on the terminal
};

}  // namespace tracer::app
