#include "ptrace/ready_reports.h"

#include <sys/wait.h>

#include <algorithm>

namespace tracer::ptrace {

Result<std::optional<Report>> ReadyReports::next(Waiting waiting) {
  for (;;) {
    while (!ready_.empty()) {
      const Report report = ready_.front();
      ready_.pop_front();
      // It may have been killed since, or another thread's execve may have taken its id.
      if (!WIFSTOPPED(report.status) || !has_report(report.tid)) {
        return std::optional<Report>(report);
      }
    }
    auto got = wait_for_any(waiting, with_system_time_);
    if (!got || !got.value() || (!crowded_ && --until_look_ != 0)) {
      return got;
    }
    take(*got.value());
    take_all();
  }
}

void ReadyReports::put_back(const Report& report) {
  ready_.push_front(report);
}

void ReadyReports::take_all() {
  until_look_ = reports_between_looks;
  for (;;) {
    const auto more = wait_for_any(Waiting::poll, with_system_time_);
    if (!more || !more.value()) {
      break;
    }
    take(*more.value());
  }
  crowded_ = ready_.size() > 1;
}

void ReadyReports::take(const Report& report) {
  // A stop that it has left without us is over.
  std::erase_if(ready_, [&](const Report& earlier) { return earlier.tid == report.tid && WIFSTOPPED(earlier.status); });
  ready_.push_back(report);
}

}  // namespace tracer::ptrace
