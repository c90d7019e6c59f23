#include "proc/pid_numbers.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "base/number_text.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "proc/proc_text.h"

namespace tracer::proc {
namespace {

/// The nesting limit of PID namespaces (pid_namespaces(7)).
constexpr std::size_t most_levels = 33;

bool proc_is_ours() {
  static const bool ours = read_link("/proc/self") == std::to_string(::getpid());
  return ours;
}

std::vector<pid_t> ids_of(const std::string& status, std::string_view label) {
  const std::string_view line = find_field(status, label);
  std::vector<pid_t> numbers;
  const char* next = line.data();
  const char* const end = line.data() + line.size();
  while (next < end && numbers.size() < most_levels) {
    pid_t number = 0;
    const auto [rest, error] = std::from_chars(next, end, number);
    if (error == std::errc{}) {
      numbers.push_back(number);
    }
    next = error == std::errc{} ? rest : next + 1;
  }
  return numbers;
}

}  // namespace

UniqueFd open_thread(pid_t tid) {
  constexpr unsigned pidfd_thread = O_EXCL;  // linux/pidfd.h, since Linux 6.9
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, tid, pidfd_thread)));
  if (!fd.valid() && errno == EINVAL) {
    fd.reset(static_cast<int>(::syscall(SYS_pidfd_open, tid, 0)));
  }
  return fd;
}

pid_t number_in_proc(pid_t tid) {
  if (proc_is_ours()) {
    return tid;
  }
  const UniqueFd thread = open_thread(tid);
  const std::string info = thread.valid() ? read_file(fmt::format("/proc/self/fdinfo/{}", thread.get())) : "";
  const pid_t number = number_at<pid_t>(find_field(info, "Pid")).value_or(0);
  return number > 0 ? number : 0;
}

pid_t number_here(pid_t number) {
  if (proc_is_ours()) {
    return number;
  }
  const auto ids = id_list(number, "NSpid");
  return ids.size() > level_here() ? ids[level_here()] : 0;
}

std::size_t level_here() {
  static const std::size_t level = [] {
    const auto own = proc_is_ours() ? std::vector<pid_t>{} : ids_of(read_file("/proc/self/status"), "NSpid");
    return own.empty() ? 0 : own.size() - 1;
  }();
  return level;
}

std::vector<pid_t> id_list(pid_t number, std::string_view label) {
  return ids_of(read_file(fmt::format("/proc/{}/status", number), 16384), label);
}

}  // namespace tracer::proc
