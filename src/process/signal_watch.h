// The signals that end tracing, by a descriptor, for engines that wait by poll(2).
#pragma once

#include <signal.h>

#include <optional>

#include "base/unique_fd.h"
#include "process/engine_options.h"
#include "process/watchdog.h"

namespace tracer::process {

/// While one exists, the fatal signals are blocked (EndingSignals), and this reports those that end tracing, and
/// SIGCHLD.
class SignalWatch {
 public:
  explicit SignalWatch(Interruptible interruptible);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// It is readable while next() has something to report.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The next one; 0 if there is none.
  [[nodiscard]] int next() const;
  /// Called by an engine that ends because of this signal: see Watchdog.
  void engine_ends(int signal);

 private:
  sigset_t former_mask_;
  struct sigaction former_child_;
  UniqueFd fd_;
  std::optional<Watchdog> watchdog_;
};

}  // namespace tracer::process
