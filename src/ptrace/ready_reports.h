// The order in which tracees that have something to report get their turns.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>

#include "base/result.h"
#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// wait4(2) looks at the latest tracees first. Where some dozens of them always have something to report, an older one
/// would never have its turn. So this takes all reports at once now and then, always while there is more than one, and
/// each tracee gets one turn before the next look.
class ReadyReports {
 public:
  explicit ReadyReports(bool with_system_time) : with_system_time_(with_system_time) {}

  /// The next one that still holds; with none left, as wait_for_any.
  Result<std::optional<Report>> next(Waiting waiting);
  /// Hands this one out again.
  void put_back(Report report);

 private:
  /// A look that finds nothing costs a system call.
  static constexpr unsigned reports_between_looks = 32;

  void take_all();
  void take(Report report);

  bool with_system_time_;
  unsigned until_look_ = reports_between_looks;
  bool crowded_ = false;  ///< the last look has found something
  std::deque<Report> ready_;
};

}  // namespace tracer::ptrace
