#include "ptrace/early_reports.h"

#include <utility>

#include "proc/proc_files.h"

namespace tracer::ptrace {

void EarlyReports::keep(Report report) {
  const pid_t tid = report.tid();
  reports_.insert_or_assign(tid, std::move(report));
}

std::optional<Report> EarlyReports::take(pid_t tid) {
  auto early = reports_.extract(tid);
  return early ? std::optional(std::move(early.mapped())) : std::nullopt;
}

std::vector<pid_t> EarlyReports::orphans(const TraceeTable& tracees, std::optional<pid_t> execed) const {
  std::vector<pid_t> found;
  for (const auto& [tid, report] : reports_) {
    const pid_t process = proc::process_of(tid);
    const pid_t parent = proc::parent_of(tid);
    const auto may_report = [&](const Tracee& t) { return t.tgid == process || t.tgid == parent; };
    if ((execed && (process == *execed || parent == *execed)) || tracees.select(may_report).empty()) {
      found.push_back(tid);
    }
  }
  return found;
}

}  // namespace tracer::ptrace
