// Files of the kernel's file systems: /proc, /sys and the like.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/directory.h"
#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::optional<Finding> kernel_files_not_mounted(const Case& facts) {
  for (const auto& [directory, type] : {std::pair{"/proc", "proc"}, std::pair{"/sys", "sysfs"}}) {
    if (facts.path().starts_with(std::string(directory) + '/') && facts.snapshot() &&
        !facts.prober.is_on_kernel_file_system(directory)) {
      Finding finding;
      finding.cause = fmt::format("no {} file system is mounted on {}", type, directory);
      finding.looked_at.push_back(facts.path() + " would be there");
      finding.remedy =
          fmt::format("mount -t {0} {0} {1} (a chroot or a container needs one of its own)", type, directory);
      return finding;
    }
  }
  return std::nullopt;
}

std::optional<Finding> not_of_this_kernel(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  const std::string directory = directory_of(walk.stopped);
  const bool is_link_of_process = is_listed(base_name(walk.stopped), "root cwd exe") ||
                                  contains(facts.path(), "/root/") || contains(facts.path(), "/cwd/");
  if (is_link_of_process || facts.path().empty() || walk.exists() ||
      !facts.prober.is_on_kernel_file_system(directory)) {
    return std::nullopt;
  }
  Finding finding;
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  if (directory == "/proc" && is_number(base_name(walk.stopped))) {
    finding.rule = "no-such-process";
    finding.cause = "there is no process " + base_name(walk.stopped);
    finding.remedy = "correct the number, or see why that process has ended";
    return finding;
  }
  finding.cause = "the kernel has no " + walk.stopped + ", and nothing can be made in " + directory;
  finding.remedy = "correct the name, load the module that brings it, or use a kernel that has it";
  return finding;
}

/// Only who might trace a process may look at these files of it, proc(5).
std::optional<Finding> process_of_another(const Case& facts) {
  const std::string& path = facts.path();
  const std::string rest = path.starts_with("/proc/") ? path.substr(6) : std::string();
  const std::string number = rest.substr(0, rest.find('/'));
  const std::string file = rest.size() > number.size() ? rest.substr(number.size() + 1) : std::string();
  const bool is_private = is_listed(file.substr(0, file.find('/')),
                                    "ns fd fdinfo exe cwd root map_files environ maps mem auxv io stack syscall");
  if (!contains(facts.messages, "ermi") || !is_number(number) || !is_private ||
      number == std::to_string(facts.process.pid) || !facts.snapshot()) {
    return std::nullopt;
  }
  const Walk process = facts.prober.walk("/proc/" + number);
  Finding finding;
  finding.cause = facts.prober.user() + " may not look into process " + number +
                  (process.exists() ? ", which belongs to " + user_name(process.info().st_uid) : std::string());
  finding.looked_at.push_back(path + " is only for who might trace that process (CAP_SYS_PTRACE)");
  finding.remedy = "run it as root";
  return finding;
}

/// The kernel refuses a value, for example of a setting.
std::optional<Finding> not_taken(const Case& facts) {
  // What a process has below /proc is gone with it; another process has the same.
  const std::string own = "/proc/" + std::to_string(facts.process.pid) + '/';
  const std::string place =
      facts.path().starts_with(own) ? "/proc/self/" + facts.path().substr(own.size()) : facts.path();
  if (place.empty() || !facts.prober.is_on_kernel_file_system(place)) {
    return std::nullopt;
  }
  Finding finding;
  const bool is_refused = is_listed(facts.call().error, "EPERM EACCES");
  finding.cause = is_refused ? facts.prober.user() + " may not write that value to " + facts.path() +
                                   ": it needs more privileges (a capability)"
                             : "the kernel does not take what was written to " + facts.path();
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  finding.remedy = "see what " + base_name(facts.path()) +
                   " may be (proc(5), the kernel's Documentation), and whether it can be written at all";
  return finding;
}

constexpr Rule kernel_files_table[] = {
    {"value-not-taken", 40, "write writev pwrite64",
     "EINVAL EIO ERANGE EPERM EACCES EBUSY EOPNOTSUPP ESRCH ENOENT ENODEV", "", "", not_taken},
    {"kernel-files-not-mounted", 21, file_calls, "ENOENT", "", "", kernel_files_not_mounted},
    {"not-of-this-kernel", 20, file_calls, "ENOENT", "", "", not_of_this_kernel},
    {"process-of-another", 32, file_calls, "EACCES EPERM", "", "", process_of_another},
    {"not-of-this-kernel", 35, file_calls, "EPERM EACCES", "", "", not_of_this_kernel},
};

}  // namespace

std::span<const Rule> kernel_file_rules() {
  return kernel_files_table;
}

}  // namespace tracer::explain::rules
