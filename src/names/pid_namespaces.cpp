#include "names/pid_namespaces.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "base/directory.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "proc/proc_text.h"

namespace tracer::names {
namespace {

/// The most lookups that are cached.
constexpr std::size_t most_witnesses = 1024;
/// The nesting limit of PID namespaces (pid_namespaces(7)).
constexpr std::size_t most_levels = 33;

/// Returns the numbers of a line `NSpid:\t7654\t1` of /proc/PID/status.
std::vector<std::int32_t> numbers_of(std::int32_t tid, std::string_view label) {
  const std::string status = read_file(proc::proc_path(tid, "status"), 16384);
  const std::string_view line = proc::find_field(status, label);
  std::vector<std::int32_t> numbers;
  const char* next = line.data();
  const char* const end = line.data() + line.size();
  while (next < end && numbers.size() < most_levels) {
    std::int32_t number = 0;
    const auto [rest, error] = std::from_chars(next, end, number);
    if (error == std::errc{}) {
      numbers.push_back(number);
    }
    next = error == std::errc{} ? rest : next + 1;
  }
  return numbers;
}

/// Returns whether the namespace of `tid`, or its ancestor `up` levels above, is `name`.
bool lives_in(std::int32_t tid, std::size_t up, const std::string& name) {
  const std::string path = proc::proc_path(tid, "ns/pid");
  if (up == 0) {
    return read_link(path) == name;
  }
  UniqueFd space(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (; up > 0 && space.valid(); --up) {
    space = UniqueFd(ioctl(space.get(), NS_GET_PARENT));
  }
  struct stat info {};
  return space.valid() && fstat(space.get(), &info) == 0 && fmt::format("pid:[{}]", info.st_ino) == name;
}

/// Calls `visit` with each numeric name in a directory of /proc until it returns true.
template <typename Visit>
bool any_number_in(const std::string& directory, Visit visit) {
  bool found = false;
  for_each_entry(directory, [&](std::string_view name) {
    const auto number = whole_number<std::int32_t>(name);
    found = number && visit(*number);
    return !found;
  });
  return found;
}

}  // namespace

PidNamespaces::PidNamespaces() : own_(read_link("/proc/self/ns/pid")) {}

std::int32_t PidNamespaces::here(std::int32_t tid, std::int32_t number, PidKind kind) {
  Home home;
  home.name = read_link(proc::proc_path(tid, "ns/pid"));
  if (home.name.empty() || home.name == own_) {
    return number;
  }
  const auto levels = numbers_of(tid, "NSpid");
  if (levels.empty()) {
    return 0;
  }
  home.level = levels.size() - 1;
  const std::string key = fmt::format("{}{}{}", home.name, kind == PidKind::group ? 'g' : 'p', number);
  std::int32_t found = 0;
  if (const auto at = witnesses_.find(key); at != witnesses_.end() && answers(home, at->second, number, kind, found)) {
    return found;
  }
  std::int32_t witness = 0;
  found = search(home, number, kind, witness);
  if (found != 0) {
    if (witnesses_.size() >= most_witnesses) {
      witnesses_.clear();
    }
    witnesses_[key] = witness;
  }
  return found;
}

bool PidNamespaces::answers(const Home& home, std::int32_t candidate, std::int32_t number, PidKind kind,
                            std::int32_t& found) {
  const auto lists = kind == PidKind::process ? std::vector<std::string_view>{"NSpid"}
                                              : std::vector<std::string_view>{"NSpgid", "NSsid"};
  for (const std::string_view label : lists) {
    const auto numbers = numbers_of(candidate, label);
    if (numbers.size() > home.level && numbers[home.level] == number &&
        lives_in(candidate, numbers.size() - 1 - home.level, home.name)) {
      found = numbers.front();
      return true;
    }
  }
  return false;
}

std::int32_t PidNamespaces::search(const Home& home, std::int32_t number, PidKind kind, std::int32_t& witness) {
  std::int32_t found = 0;
  const auto is_it = [&](std::int32_t candidate) {
    witness = candidate;
    return answers(home, candidate, number, kind, found);
  };
  if (any_number_in("/proc", is_it) || kind == PidKind::group) {
    return found;
  }
  any_number_in("/proc", [&](std::int32_t process) {
    return numbers_of(process, "NSpid").size() > home.level && any_number_in(proc::proc_path(process, "task"), is_it);
  });
  return found;
}

}  // namespace tracer::names
