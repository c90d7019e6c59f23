#include "proc/proc_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/read_file.h"
#include "proc/pid_numbers.h"

namespace tracer::proc {

std::string proc_path(pid_t tid, std::string_view what) {
  return fmt::format("/proc/{}/{}", number_in_proc(tid), what);
}

std::string descriptor_path(pid_t tid, std::int64_t fd, std::string_view directory) {
  return fmt::format("/proc/{}/{}/{}", number_in_proc(tid), directory, fd);
}

std::string_view find_field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      const std::string_view value = line.substr(name.size() + 1);
      return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::string command_name(pid_t tid) {
  const std::string name = read_file(proc_path(tid, "comm"), 64);
  constexpr std::size_t max_size = 15;  // TASK_COMM_LEN - 1; the kernel shows longer names for its own threads
  return name.substr(0, std::min(name.find('\n'), max_size));
}

}  // namespace tracer::proc
