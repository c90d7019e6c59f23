// Reports of children that no parent has reported yet.
#pragma once

#include <sys/types.h>

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
  [[nodiscard]] int status(pid_t tid) const { return reports_.at(tid).status; }
  [[nodiscard]] bool is_stop(pid_t tid) const { return reports_.at(tid).is_stop(); }
  /// The children that none of the tracees will report any more, as their creator was killed, or ended by the execve of
  /// process `execed`.
  [[nodiscard]] std::vector<pid_t> orphans(const TraceeTable& tracees, std::optional<pid_t> execed) const;

 private:
  std::map<pid_t, Report> reports_;
  std::set<pid_t> ending_;
};

}  // namespace tracer::ptrace
