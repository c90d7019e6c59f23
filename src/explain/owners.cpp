#include "explain/owners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/record.h"
#include "explain/system_view.h"
#include "explain/text_search.h"
#include "proc/proc_text.h"

namespace tracer::explain {

namespace {

bool holds(pid_t pid, const std::string& target) {
  const std::string directory = proc::proc_path(pid, "fd");
  bool found = false;
  for_each_entry(directory, [&](const char* fd) {
    found = read_link(directory + '/' + fd) == target;
    return !found;
  });
  return found;
}

/// Visits all processes but the tracer.
template <typename Visit>
void for_each_process(const Visit& visit) {
  for_each_entry("/proc", [&](const char* name) {
    if (const pid_t pid = std::atoi(name); pid > 0 && pid != ::getpid()) {
      visit(pid);
    }
    return true;
  });
}

/// Returns the processes, without the tracer, for which `is_one` is true.
template <typename Predicate>
std::vector<pid_t> processes_with(const Predicate& is_one) {
  std::vector<pid_t> found;
  for_each_process([&](pid_t pid) {
    if (is_one(pid)) {
      found.push_back(pid);
    }
  });
  return found;
}

bool is_at_or_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool uses(pid_t pid, const std::string& directory) {
  for (const char* link : {"cwd", "root", "exe"}) {
    if (is_at_or_below(read_link(proc::proc_path(pid, link)), directory)) {
      return true;
    }
  }
  const std::string descriptors = proc::proc_path(pid, "fd");
  bool found = false;
  for_each_entry(descriptors, [&](const char* fd) {
    found = is_at_or_below(read_link(descriptors + '/' + fd), directory);
    return !found;
  });
  return found;
}

/// True if a descriptor of the process holds a lock of that file: fdinfo says so.
bool has_lock(pid_t pid, dev_t device, ino_t inode) {
  const std::string descriptors = proc::proc_path(pid, "fd");
  bool found = false;
  for_each_entry(descriptors, [&](const char* fd) {
    struct stat info;
    found = ::stat((descriptors + '/' + fd).c_str(), &info) == 0 && info.st_dev == device && info.st_ino == inode &&
            read_file(proc::proc_path(pid, "fdinfo") + '/' + fd, 4096).find("lock:") != std::string::npos;
    return !found;
  });
  return found;
}

}  // namespace

std::vector<pid_t> runners_of(const std::string& program) {
  struct stat wanted;
  if (::stat(program.c_str(), &wanted) != 0) {
    return {};
  }
  return processes_with([&](pid_t pid) {
    struct stat info;
    return ::stat(proc::proc_path(pid, "exe").c_str(), &info) == 0 && info.st_dev == wanted.st_dev &&
           info.st_ino == wanted.st_ino;
  });
}

std::vector<pid_t> users_below(const std::string& directory) {
  return directory == "/" ? std::vector<pid_t>() : processes_with([&](pid_t pid) { return uses(pid, directory); });
}

std::string describe_process(pid_t pid) {
  const std::string name = proc::command_name(pid);
  return fmt::format("{} (pid {})", name.empty() ? "a process" : printable(name), pid);
}

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

std::optional<std::int64_t> start_time_of(pid_t pid) {
  // Field 22 of /proc/PID/stat, in clock ticks since boot. The command name in parentheses may contain any character.
  constexpr int fields_before = 19;
  const std::string stat = read_file(proc::proc_path(pid, "stat"), 4096);
  const std::size_t name_end = stat.rfind(')');
  std::istringstream fields(name_end == std::string::npos ? std::string() : stat.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < fields_before; ++i) {
    fields >> field;
  }
  std::int64_t ticks = 0;
  const std::string times = read_file("/proc/stat", std::size_t{1} << 20);
  const std::size_t boot = times.find("btime ");
  if (!(fields >> ticks) || boot == std::string::npos) {
    return std::nullopt;
  }
  return std::strtoll(times.c_str() + boot + 6, nullptr, 10) + ticks / std::max(::sysconf(_SC_CLK_TCK), 1L);
}

std::vector<pid_t> holders_of(const std::string& target) {
  return processes_with([&](pid_t pid) { return holds(pid, target); });
}

std::optional<int> access_mode(pid_t pid, std::int64_t fd) {
  const std::string info = read_file(proc::descriptor_path(pid, fd, "fdinfo"), 4096);
  const std::string flags(proc::find_field(info, "flags"));
  return flags.empty() ? std::nullopt : std::optional<int>(std::strtol(flags.c_str(), nullptr, 8) & O_ACCMODE);
}

std::vector<PipeHolder> pipe_holders(const std::string& target) {
  std::vector<PipeHolder> holders;
  for_each_process([&](pid_t pid) {
    PipeHolder holder{pid};
    const std::string directory = proc::proc_path(pid, "fd");
    for_each_entry(directory, [&](const char* fd) {
      if (read_link(directory + '/' + fd) == target) {
        const std::optional<int> mode = access_mode(pid, std::atoi(fd));
        holder.can_read = holder.can_read || mode != O_WRONLY;
        holder.can_write = holder.can_write || mode != O_RDONLY;
      }
      return true;
    });
    if (holder.can_read || holder.can_write) {
      holders.push_back(holder);
    }
  });
  return holders;
}

std::optional<Listener> listener_on(const std::string& kind, unsigned port) {
  for (const bool v6 : {false, true}) {
    std::istringstream lines(read_file("/proc/net/" + kind + (v6 ? "6" : ""), std::size_t{4} << 20));
    std::string line;
    std::getline(lines, line);  // skip the heading
    while (std::getline(lines, line)) {
      std::array<char, 40> local{};
      unsigned local_port = 0;
      unsigned state = 0;
      unsigned long inode = 0;
      constexpr unsigned listening = 10;
      if (std::sscanf(line.c_str(), " %*u: %33[0-9A-F]:%x %*33[0-9A-F]:%*x %x %*s %*s %*s %*u %*u %lu", local.data(),
                      &local_port, &state, &inode) != 4 ||
          local_port != port || (kind == "tcp" && state != listening)) {
        continue;
      }
      Listener listener;
      listener.inode = fmt::format("socket:[{}]", inode);
      listener.address = fmt::format("port {}", port);
      if (!v6) {
        const in_addr address{static_cast<in_addr_t>(std::strtoul(local.data(), nullptr, 16))};
        std::array<char, INET_ADDRSTRLEN> text{};
        ::inet_ntop(AF_INET, &address, text.data(), text.size());
        listener.address = fmt::format("{}:{}", text.data(), port);
      }
      listener.processes = holders_of(listener.inode);
      return listener;
    }
  }
  return std::nullopt;
}

std::vector<pid_t> lock_holders(dev_t device, ino_t inode) {
  std::vector<pid_t> found;
  std::istringstream lines(read_file("/proc/locks", std::size_t{1} << 20));
  for (std::string line; std::getline(lines, line);) {
    int pid = 0;
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long number = 0;
    if (line.find("->") == std::string::npos &&
        std::sscanf(line.c_str(), "%*u: %*s %*s %*s %d %x:%x:%lu", &pid, &major_number, &minor_number, &number) == 4 &&
        number == inode && ::makedev(major_number, minor_number) == device) {
      found.push_back(pid);
    }
  }
  // A lock that was taken before a fork bears the ID of the parent, which may have ended.
  if (std::none_of(found.begin(), found.end(), is_alive) && !found.empty()) {
    const std::vector<pid_t> heirs = processes_with([&](pid_t pid) { return has_lock(pid, device, inode); });
    return heirs.empty() ? found : heirs;
  }
  return found;
}

std::string describe_processes(const std::vector<pid_t>& pids) {
  std::vector<std::string> names;
  std::transform(pids.begin(), pids.end(), std::back_inserter(names), describe_process);
  return join_first(std::move(names));
}

}  // namespace tracer::explain
