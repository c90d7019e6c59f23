// Reports of children that no parent has reported yet.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ptrace/stopped_thread.h"
#include "ptrace/tracee.h"

namespace tracer::ptrace {

class EarlyReports {
 public:
  [[nodiscard]] bool empty() const { return reports_.empty(); }
  void keep(Report report);
  void forget(pid_t tid) { reports_.erase(tid); }
  std::optional<Report> take(pid_t tid);
  /// It was killed, and only the report of its end is still to come.
  void expect_end(pid_t tid) { ending_.insert(tid); }
  /// Whether that is so; the report has come now.
  bool is_expected_end(pid_t tid) { return ending_.erase(tid) != 0; }
  [[nodiscard]] int status(pid_t tid) const { return reports_.at(tid).report.status; }
  [[nodiscard]] bool is_stop(pid_t tid) const { return reports_.at(tid).report.is_stop(); }
  /// The children that none of the tracees will report any more, as their creator was killed, or ended by the execve of
  /// process `execed`, or has not reported them for so long that it never will: the kernel attaches a child with
  /// CLONE_PTRACE, and with CLONE_UNTRACED besides it says nothing of it.
  [[nodiscard]] std::vector<pid_t> orphans(const TraceeTable& tracees, std::optional<pid_t> execed) const;
  /// When the next child will have been kept for so long, by CLOCK_MONOTONIC.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> due() const;

 private:
  struct Early {
    Report report;
    std::chrono::nanoseconds came{};  ///< by CLOCK_MONOTONIC
  };

  /// A creator reports its child as its next step, but others may have the CPU.
  static constexpr std::chrono::seconds patience{1};

  std::map<pid_t, Early> reports_;
  std::set<pid_t> ending_;
};

}  // namespace tracer::ptrace
