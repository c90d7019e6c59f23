#include "ptrace/early_reports.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "proc/proc_files.h"

namespace tracer::ptrace {

void EarlyReports::keep(Report report) {
  const pid_t tid = report.tid();
  reports_.insert_or_assign(tid, Early{std::move(report), clock_now(CLOCK_MONOTONIC)});
}

std::optional<Report> EarlyReports::take(pid_t tid) {
  auto early = reports_.extract(tid);
  return early ? std::optional(std::move(early.mapped().report)) : std::nullopt;
}

std::vector<pid_t> EarlyReports::orphans(const TraceeTable& tracees, std::optional<pid_t> execed) const {
  std::vector<pid_t> found;
  const auto now = clock_now(CLOCK_MONOTONIC);
  for (const auto& [tid, early] : reports_) {
    if (now - early.came >= patience) {
      found.push_back(tid);
      continue;
    }
    const pid_t process = proc::process_of(tid);
    const pid_t parent = proc::parent_of(tid);
    const auto may_report = [&](const Tracee& t) { return t.tgid == process || t.tgid == parent; };
    if ((execed && (process == *execed || parent == *execed)) || tracees.select(may_report).empty()) {
      found.push_back(tid);
    }
  }
  return found;
}

std::optional<std::chrono::nanoseconds> EarlyReports::due() const {
  const auto first = std::min_element(reports_.begin(), reports_.end(), [](const auto& one, const auto& other) {
    return one.second.came < other.second.came;
  });
  return first != reports_.end() ? std::optional(first->second.came + patience) : std::nullopt;
}

}  // namespace tracer::ptrace
