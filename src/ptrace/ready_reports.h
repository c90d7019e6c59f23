// Whose turn it is, of the tracees that have something to report.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>

#include "base/result.h"
#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// wait4(2) looks at the latest tracees first. Where some dozens of them always have something to report, an older one
/// never had its turn. So all that is there is taken at once now and then, always while that is more than one report,
/// and each tracee gets one turn before the next look.
class ReadyReports {
 public:
  explicit ReadyReports(bool with_system_time) : with_system_time_(with_system_time) {}

  /// The next one that still holds; with none left, as wait_for_any.
  Result<std::optional<Report>> next(Waiting waiting);
  /// Hands this one out again.
  void put_back(const Report& report);

 private:
  /// A look that finds nothing costs a system call.
  static constexpr unsigned reports_between_looks = 32;

  void take_all();
  void take(const Report& report);

  bool with_system_time_;
  unsigned until_look_ = reports_between_looks;
  bool crowded_ = false;  ///< the last look has found something
  std::deque<Report> ready_;
};

}  // namespace tracer::ptrace
