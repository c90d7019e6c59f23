#include "ptrace/cpu_follower.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/unique_fd.h"

namespace tracer {
namespace {

/// The CPU that a thread last ran on (proc(5), /proc/PID/stat, field 39), or -1.
int cpu_of(pid_t tid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", tid);
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return -1;
  }
  char text[1024];
  const ssize_t size = ::read(file.get(), text, sizeof text - 1);
  if (size <= 0) {
    return -1;
  }
  text[size] = '\0';
  std::string_view rest(text, static_cast<std::size_t>(size));
  // The name in parentheses is the thread's own and may hold anything.
  const std::size_t name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) {
    return -1;
  }
  rest.remove_prefix(name_end + 1);
  constexpr int fields_after_name = 39 - 2;
  for (int i = 0; i < fields_after_name; ++i) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) {
      return -1;
    }
    rest.remove_prefix(space + 1);
  }
  return std::atoi(rest.data());
}

}  // namespace

CpuFollower::CpuFollower() {
  usable_ = ::sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 && CPU_COUNT(&allowed_) > 1;
}

CpuFollower::~CpuFollower() {
  release();
}

void CpuFollower::release() {
  if (pinned_to_ >= 0) {
    ::sched_setaffinity(0, sizeof allowed_, &allowed_);
    pinned_to_ = -1;
  }
}

void CpuFollower::check() {
  const unsigned seen = interval_;
  const bool one_is_busy = count_ >= 0 && static_cast<unsigned>(count_) >= seen - seen / 8;
  count_ = 0;
  if (!usable_) {
    until_check_ = interval_ = longest_interval;
    return;
  }
  if (!one_is_busy) {
    release();
    until_check_ = interval_ = longest_interval;
    return;
  }
  const int cpu = cpu_of(busiest_);
  if (cpu == pinned_to_) {
    interval_ = std::min(interval_ * 2, longest_interval);
    rest_ = first_rest;
  } else if (pinned_to_ >= 0) {
    // It was woken on another CPU, since that one was idle, and would be again: following costs more than it gains.
    release();
    interval_ = first_check;
    until_check_ = rest_;
    rest_ = std::min(rest_ * 2, longest_rest);
    return;
  } else if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed_)) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (::sched_setaffinity(0, sizeof one, &one) == 0) {
      pinned_to_ = cpu;
    }
    interval_ = first_check;
  } else {
    release();
  }
  until_check_ = interval_;
}

}  // namespace tracer
