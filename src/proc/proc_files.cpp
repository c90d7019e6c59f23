#include "proc/proc_files.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/directory.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "proc/pid_numbers.h"
#include "proc/proc_text.h"

namespace tracer::proc {

std::string status_field(pid_t pid, const std::string& name) {
  const std::string status = read_file(proc_path(pid, "status"));
  return std::string(find_field(status, name));
}

pid_t number_field(pid_t pid, const std::string& name) {
  return std::atoi(status_field(pid, name).c_str());
}

pid_t id_field(pid_t pid, const std::string& name) {
  return number_here(number_field(pid, name));
}

bool has_capability(unsigned number) {
  // The kernel answers where /proc is not mounted and no descriptor is left, too.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  constexpr unsigned bits = 32;
  return ::syscall(SYS_capget, &header, sets.data()) == 0 && number / bits < sets.size() &&
         (sets[number / bits].effective >> number % bits & 1) != 0;
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> tids;
  for_each_entry(proc_path(pid, "task"), [&tids](const char* name) {
    tids.push_back(number_here(std::atoi(name)));
    return true;
  });
  return tids;
}

pid_t process_of(pid_t tid) {
  const pid_t tgid = id_field(tid, "Tgid");
  return tgid > 0 ? tgid : tid;
}

UniqueFd open_task(pid_t tid) {
  UniqueFd task = open_thread(tid);
  return task.valid() ? std::move(task) : open_thread(process_of(tid));
}

bool is_alive(pid_t tid) {
  const std::string state = status_field(tid, "State");
  return !state.empty() && state[0] != 'Z' && state[0] != 'X';
}

pid_t parent_of(pid_t tid) {
  return id_field(tid, "PPid");
}

bool is_foreign(pid_t tid) {
  // The owner of this directory is the effective user, whatever prctl(PR_SET_DUMPABLE) makes of those in it.
  struct stat owner {};
  if (::stat(proc_path(tid, "").c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) {
    return true;
  }
  struct stat space {};
  struct stat own {};
  return ::stat("/proc/self/ns/pid", &own) == 0 && ::stat(proc_path(tid, "ns/pid").c_str(), &space) == 0 &&
         own.st_ino != space.st_ino;
}

bool is_thread_of(pid_t tid, pid_t tgid) {
  return ::access(proc_path(tgid, fmt::format("task/{}", number_in_proc(tid))).c_str(), F_OK) == 0;
}

std::uint64_t stack_start_of(pid_t pid) {
  // Field 28 of /proc/PID/stat; the command name in parentheses may contain any character.
  constexpr int blanks_before = 26;
  const std::string text = read_file(proc_path(pid, "stat"), 4096);
  std::string_view left(text);
  left.remove_prefix(std::min(left.rfind(')'), left.size()));
  for (int i = 0; i < blanks_before; ++i) {
    const std::size_t blank = left.find(' ');
    left.remove_prefix(blank == std::string_view::npos ? left.size() : blank + 1);
  }
  return number_at<std::uint64_t>(left).value_or(0);
}

std::string command_of(pid_t pid) {
  const std::string words = read_file(proc_path(pid, "cmdline"));
  return words.substr(0, words.find('\0'));
}

}  // namespace tracer::proc
