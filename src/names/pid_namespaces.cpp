#include "names/pid_namespaces.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/directory.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "proc/pid_numbers.h"
#include "proc/proc_text.h"

namespace tracer::names {
namespace {

/// The most lookups that are cached.
constexpr std::size_t most_witnesses = 1024;
/// Returns whether the namespace of what has `number` in /proc, or its ancestor `up` levels above, is `name`.
bool lives_in(std::int32_t number, std::size_t up, const std::string& name) {
  const std::string path = fmt::format("/proc/{}/ns/pid", number);
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

/// Asks the kernel for the id here of the thread that has the id `number` in the namespace of thread `tid`; 0 if there
/// is none. Nothing if the kernel does not know this request.
std::optional<std::int32_t> ask_kernel(std::int32_t tid, std::int32_t number) {
  constexpr unsigned long pid_from_pidns = _IOR(NSIO, 0x6, int);  // linux/nsfs.h, since Linux 6.11
  const UniqueFd space(open(proc::proc_path(tid, "ns/pid").c_str(), O_RDONLY | O_CLOEXEC));
  const int here = space.valid() ? ioctl(space.get(), pid_from_pidns, number) : -1;
  if (here > 0) {
    return here;
  }
  return space.valid() && errno == ESRCH ? std::optional(0) : std::nullopt;
}

}  // namespace

PidNamespaces::PidNamespaces() : own_(read_link("/proc/self/ns/pid")) {}

std::int32_t PidNamespaces::here(std::int32_t tid, std::int32_t number, PidKind kind) {
  Home home;
  home.name = read_link(proc::proc_path(tid, "ns/pid"));
  if (home.name.empty() || home.name == own_) {
    return number;
  }
  const auto asked = ask_kernel(tid, number);
  if (asked && kind == PidKind::process) {
    return *asked;
  }
  const auto levels = proc::id_list(proc::number_in_proc(tid), "NSpid");
  if (levels.empty()) {
    return 0;
  }
  home.level = levels.size() - 1;
  const std::string key = fmt::format("{}{}{}", home.name, kind == PidKind::group ? 'g' : 'p', number);
  std::int32_t found = 0;
  if (const auto at = witnesses_.find(key); at != witnesses_.end() && answers(home, at->second, number, kind, found)) {
    return found;
  }
  std::int32_t witness = asked ? proc::number_in_proc(*asked) : 0;
  found = 0;
  if (witness == 0 || !answers(home, witness, number, kind, found)) {
    found = searches_.spend_on([&] { return search(home, number, kind, witness); });
  }
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
    const auto numbers = proc::id_list(candidate, label);
    if (numbers.size() > std::max(home.level, proc::level_here()) && numbers[home.level] == number &&
        lives_in(candidate, numbers.size() - 1 - home.level, home.name)) {
      found = numbers[proc::level_here()];
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
    return proc::id_list(process, "NSpid").size() > home.level &&
           any_number_in(fmt::format("/proc/{}/task", process), is_it);
  });
  return found;
}

}  // namespace tracer::names
