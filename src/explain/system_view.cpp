#include "explain/system_view.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/directory.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/text_buffer.h"
#include "explain/text_search.h"
#include "proc/proc_text.h"

namespace tracer::explain {

namespace {

std::optional<std::size_t> count_entries(const std::string& path) {
  std::size_t count = 0;
  const bool is_there = for_each_entry(path, [&count](const char*) {
    ++count;
    return true;
  });
  return is_there ? std::optional(count) : std::nullopt;
}

}  // namespace

bool Snapshot::same_rights(const Snapshot& other) const {
  constexpr std::array<std::string_view, 6> keys = {"Uid", "Gid", "Groups", "CapEff", "Seccomp", "Seccomp_filters"};
  return limits == other.limits && cgroup == other.cgroup && security_label == other.security_label &&
         std::all_of(keys.begin(), keys.end(), [&](std::string_view key) { return field(key) == other.field(key); });
}

std::string Snapshot::control_group_file(std::string_view name) const {
  return read_file("/sys/fs/cgroup" + cgroup + '/' + std::string(name), 4096);
}

std::string Snapshot::memory_group_file(std::string_view name) const {
  return memory_cgroup.empty() ? ""
                               : read_file("/sys/fs/cgroup/memory" + memory_cgroup + '/' + std::string(name), 4096);
}

std::uint64_t Snapshot::killed_for_memory_now() const {
  std::string events = control_group_file("memory.events");
  if (events.empty()) {
    events = memory_group_file("memory.oom_control");
  }
  return number_at<std::uint64_t>(word_after(line_with(events, "oom_kill "), "oom_kill ", "\n")).value_or(0);
}

void Snapshot::update(Snapshot later) {
  const auto take = [](std::string& mine, std::string& other) {
    if (!other.empty()) {
      mine = std::move(other);
    }
  };
  take(status, later.status);
  take(limits, later.limits);
  take(cgroup, later.cgroup);
  take(memory_cgroup, later.memory_cgroup);
  take(security_label, later.security_label);
  take(executable, later.executable);
  take(user_namespace, later.user_namespace);
  descriptors = later.descriptors;
  killed_for_memory = later.killed_for_memory;
}

std::string Snapshot::field(std::string_view key) const {
  return std::string(proc::find_field(status, key));
}

std::optional<std::uint64_t> Snapshot::id(std::string_view key, unsigned column) const {
  std::istringstream words(field(key));
  std::uint64_t value = 0;
  for (unsigned i = 0; i <= column; ++i) {
    if (!(words >> value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<std::uint64_t> Snapshot::limit(std::string_view name) const {
  std::istringstream lines(limits);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) == 0) {
      const std::size_t from = line.find_first_not_of(' ', name.size());
      return from == std::string::npos ? std::nullopt : number_at<std::uint64_t>(std::string_view(line).substr(from));
    }
  }
  return std::nullopt;
}

ProcSystemView::ProcSystemView() : own_mounts_(read_link("/proc/self/ns/mnt")) {
  if (const auto own = ProcSystemView::snapshot(::getpid())) {
    own_cgroup_ = own->cgroup;
    own_memory_cgroup_ = own->memory_cgroup;
    killed_before_ = own->killed_for_memory_now();
  }
}

std::string ProcSystemView::current_directory(pid_t tid) {
  return read_link(proc::proc_path(tid, "cwd"));
}

std::optional<std::string> ProcSystemView::descriptor(pid_t tid, std::int64_t fd) {
  std::string target = fd < 0 ? std::string() : read_link(proc::proc_path(tid, fmt::format("fd/{}", fd)));
  return target.empty() ? std::nullopt : std::optional(std::move(target));
}

std::optional<Snapshot> ProcSystemView::snapshot(pid_t tid) {
  Snapshot result;
  result.status = read_file(proc::proc_path(tid, "status"));
  result.limits = read_file(proc::proc_path(tid, "limits"));
  result.security_label = read_file(proc::proc_path(tid, "attr/current"), 256);
  result.executable = read_link(proc::proc_path(tid, "exe"));
  result.user_namespace = read_link(proc::proc_path(tid, "ns/user"));
  result.descriptors = count_entries(proc::proc_path(tid, "fd"));
  std::istringstream lines(read_file(proc::proc_path(tid, "cgroup")));
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "0::") == 0) {
      result.cgroup = line.substr(3);
    } else if (const std::size_t at = line.find(":memory:"); at != std::string::npos) {
      result.memory_cgroup = line.substr(at + 8);
    }
  }
  // Of a group that is not the tracer's own, nobody has looked at the count before the run.
  const bool is_own = result.cgroup == own_cgroup_ && result.memory_cgroup == own_memory_cgroup_;
  result.killed_for_memory = is_own ? killed_before_ : 0;
  return result;
}

std::vector<proc::MappedRange> ProcSystemView::mappings(pid_t tid) {
  std::vector<proc::MappedRange> result;
  proc::for_each_range(proc::read_memory_map(tid), [&](const proc::MappedRange& range) { result.push_back(range); });
  return result;
}

std::optional<std::shared_ptr<Root>> ProcSystemView::root(pid_t tid) {
  const std::string mounts = read_link(proc::proc_path(tid, "ns/mnt"));
  const std::string directory = read_link(proc::proc_path(tid, "root"));
  if (directory.empty()) {
    return std::nullopt;
  }
  if (directory == "/" && (mounts.empty() || mounts == own_mounts_)) {
    return nullptr;
  }
  if (const std::string name = mounts + directory; last_other_ == nullptr || name != last_other_name_) {
    auto other = std::make_shared<Root>();
    other->directory.reset(::open(proc::proc_path(tid, "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    other->mounts.reset(::open(proc::proc_path(tid, "ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
    if (!other->directory.valid()) {
      return std::nullopt;
    }
    other->prefix = fmt::format("/proc/self/fd/{}", other->directory.get());
    last_other_ = std::move(other);
    last_other_name_ = name;
  }
  return last_other_;
}

std::uint64_t ProcSystemView::stack_pointer(pid_t tid) {
  // "running", or the call's number with its arguments, or -1; then stack pointer and program counter.
  const std::string text = read_file(proc::proc_path(tid, "syscall"), 512);
  const std::size_t last = text.rfind(' ');
  const std::size_t before = last == std::string::npos || last == 0 ? last : text.rfind(' ', last - 1);
  std::uint64_t value = 0;
  return before != std::string::npos && std::sscanf(text.c_str() + before, " 0x%lx", &value) == 1 ? value : 0;
}

std::string ProcSystemView::environment(pid_t tid) {
  constexpr std::size_t max_size = std::size_t{64} << 10;
  return read_file(proc::proc_path(tid, "environ"), max_size);
}

}  // namespace tracer::explain
