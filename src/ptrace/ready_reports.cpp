#include "ptrace/ready_reports.h"

#include <algorithm>
#include <utility>

namespace tracer::ptrace {

Result<std::optional<Report>> ReadyReports::next(Waiting waiting) {
  for (;;) {
    while (!ready_.empty()) {
      Report report = std::move(ready_.front());
      ready_.pop_front();
      // It may have been killed since, or another thread's execve may have taken its id.
      if (!report.is_stop() || !has_report(report.tid())) {
        return std::optional<Report>(std::move(report));
      }
    }
    auto got = wait_for_any(waiting, with_system_time_);
    if (!got || !got.value() || (!crowded_ && --until_look_ != 0)) {
      return got;
    }
    take(std::move(*got.value()));
    take_all();
  }
}

void ReadyReports::put_back(Report report) {
  ready_.push_front(std::move(report));
}

void ReadyReports::take_all() {
  until_look_ = reports_between_looks;
  for (;;) {
    auto more = wait_for_any(Waiting::poll, with_system_time_);
    if (!more || !more.value()) {
      break;
    }
    take(std::move(*more.value()));
  }
  crowded_ = ready_.size() > 1;
}

void ReadyReports::take(Report report) {
  // If the tracee has left a stop without us, that one is over.
  std::erase_if(ready_, [&](const Report& earlier) { return earlier.is_stop() && earlier.tid() == report.tid(); });
  ready_.push_back(std::move(report));
}

}  // namespace tracer::ptrace
