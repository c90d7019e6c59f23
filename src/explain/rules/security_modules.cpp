// Refusals of security modules (Landlock, AppArmor, SELinux, BPF, …) that modes and capabilities would allow.
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

/// Reads the last MiB of a log: the kernel's ring buffer or the file of the audit daemon.
std::string end_of_log(const std::string& path) {
  constexpr off_t max_size = off_t{1} << 20;
  std::string text;
  const UniqueFd log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!log.valid()) {
    return text;
  }
  if (const off_t size = ::lseek(log.get(), 0, SEEK_END); size > max_size) {
    ::lseek(log.get(), size - max_size, SEEK_SET);
  } else {
    ::lseek(log.get(), 0, SEEK_SET);
  }
  std::array<char, 8192> piece;  // /dev/kmsg gives one record for each read
  ssize_t got = 0;
  while ((got = ::read(log.get(), piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > std::size_t{max_size}) {
      text.erase(0, text.size() / 2);
    }
  }
  return text;
}

/// Returns the newest line that reports a denial for the process.
std::string denial_of(pid_t pid) {
  const std::string number = fmt::format(" pid={} ", pid);
  for (const char* path : {"/dev/kmsg", "/var/log/audit/audit.log"}) {
    std::istringstream lines(end_of_log(path));
    std::string newest;
    for (std::string line; std::getline(lines, line);) {
      const bool denies = line.find("DENIED") != std::string::npos || line.find("denied") != std::string::npos;
      if (denies && (line + ' ').find(number) != std::string::npos) {
        newest = line.substr(
            line.find(';') == std::string::npos ? 0 : line.find(';') + 1);  // skip the prefix of /dev/kmsg records
      }
    }
    if (!newest.empty()) {
      return newest;
    }
  }
  return {};
}

bool confined_itself(const Case& facts) {
  return std::any_of(facts.process.steps.begin(), facts.process.steps.end(), [](const Step& step) {
    return step.call.name == "landlock_restrict_self" && step.call.outcome == CallOutcome::returned;
  });
}

struct Module {
  std::string words;   ///< "the AppArmor profile nginx"
  std::string remedy;  ///< what to do about it
};

/// Determines the module from the process's label, the log and the story.
Module module_of(const Case& facts, const std::string& label, const std::string& denial) {
  const bool is_apparmor_label = label.find(" (") != std::string::npos;
  if (denial.find("apparmor=") != std::string::npos ||
      (is_apparmor_label && label.find("(enforce)") != std::string::npos)) {
    const std::string profile =
        is_apparmor_label ? label.substr(0, label.find(" (")) : word_after(denial, "profile=\"", "\"");
    return {"the AppArmor profile " + printable(profile),
            "allow it in the profile (aa-logprof, /etc/apparmor.d), or aa-complain " + shell_word(printable(profile))};
  }
  if (denial.find("avc:") != std::string::npos || std::count(label.begin(), label.end(), ':') >= 3) {
    return {"SELinux, which confines it as " + printable(label),
            "ausearch -m avc -ts recent shows what; restorecon, or a policy module of audit2allow, allows it"};
  }
  if (confined_itself(facts)) {
    return {"Landlock, with which it confined itself",
            "let it allow that in its Landlock rules, or switch them off in its settings"};
  }
  return {"a security module (Landlock, AppArmor, SELinux, BPF, …)",
          "see journalctl -k or the audit log (ausearch -m avc) for the denial, and extend the profile; a program that "
          "confines itself (Landlock) has to allow it"};
}

Finding refusal(const Case& facts, const std::string& what) {
  Finding finding;
  const std::string modules = first_line(read_file("/sys/kernel/security/lsm", 256));
  const std::string label = facts.snapshot() ? first_line(facts.snapshot()->security_label) : "";
  const std::string denial = denial_of(facts.process.pid);
  const Module module = module_of(facts, label, denial);
  finding.cause =
      "the modes would allow it, so " + module.words + " keeps " + printable(facts.process.name()) + " from " + what;
  if (!facts.path().empty()) {
    finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  }
  if (!denial.empty()) {
    finding.looked_at.push_back("log: " + printable(denial));
  }
  if (!modules.empty()) {
    finding.looked_at.push_back("active modules: " + printable(modules));
  }
  if (!label.empty()) {
    finding.looked_at.push_back("the process is confined as " + printable(label));
  }
  finding.remedy = module.remedy;
  finding.weight = denial.empty() ? 0 : 15;
  return finding;
}

/// True if the kernel itself refuses the call, because it needs ownership or a capability: chmod(2), chown(2),
/// utimensat(2), and unlink(2) in sticky directories.
bool needs_more_than_modes(const Case& facts, const Walk& walk) {
  if (facts.call().error != "EPERM") {
    return false;
  }
  if (is_listed(facts.call().name, "chown lchown fchownat chroot mknod mknodat")) {
    return !facts.prober.has_capability(facts.call().name == "chroot"                   ? CAP_SYS_CHROOT
                                        : facts.call().name.compare(0, 5, "mknod") == 0 ? CAP_MKNOD
                                                                                        : CAP_CHOWN);
  }
  if (is_listed(facts.call().name,
                "chmod fchmodat fchmodat2 utimensat utime utimes unlink unlinkat rmdir rename renameat renameat2 link "
                "linkat")) {
    const auto user = facts.snapshot()->id("Uid", 3);
    return !facts.prober.has_capability(CAP_FOWNER) && walk.exists() && user && *user != walk.info().st_uid;
  }
  return false;
}

/// True if the kernel runs a module that can deny what modes allow. If it does not say which modules it runs: if one
/// has labelled the process, or the process has confined itself.
bool may_be_confined(const Case& facts) {
  std::istringstream modules(read_file("/sys/kernel/security/lsm", 256));
  bool is_known = false;
  for (std::string name; std::getline(modules, name, ',');) {
    name = first_line(name);
    is_known = true;
    if (!name.empty() && !is_listed(name, "capability lockdown yama safesetid loadpin integrity ima evm")) {
      return true;
    }
  }
  const bool is_labelled = facts.snapshot() && !first_line(facts.snapshot()->security_label).empty();
  return !is_known && (is_labelled || confined_itself(facts));
}

std::optional<Finding> file_refused(const Case& facts) {
  if (!may_be_confined(facts) || (facts.call().name.starts_with("link") && facts.call().error == "EPERM")) {
    return std::nullopt;  // the kernel restricts hard links by itself (proc_sys_fs(5))
  }
  const Walk walk = facts.prober.walk(facts.path());
  if ((facts.snapshot() && needs_more_than_modes(facts, walk)) || facts.prober.is_immutable(facts.path()) ||
      facts.prober.is_immutable(directory_of(facts.path())) ||
      (!walk.exists() && facts.prober.is_on_kernel_file_system(directory_of(facts.path())))) {
    return std::nullopt;  // another rule applies
  }
  if (facts.path().empty() || !facts.snapshot() || facts.prober.unsearchable_directory(walk) != nullptr) {
    return std::nullopt;
  }
  const std::string flags = to_text(facts.call().argument("flags").value);
  const bool makes = !walk.exists() && flags.find("O_CREAT") != std::string::npos;
  if (makes) {
    const Walk directory = facts.prober.walk(directory_of(facts.path()));
    return directory.exists() && facts.prober.may(directory.info(), Access::write)
               ? std::optional(refusal(facts, "making " + facts.path()))
               : std::nullopt;
  }
  if (!walk.exists()) {
    return std::nullopt;
  }
  const bool executes = facts.call().name.compare(0, 6, "execve") == 0;
  const bool writes = flags.find("O_WRONLY") != std::string::npos || flags.find("O_RDWR") != std::string::npos;
  if (!facts.prober.may(walk.info(), executes ? Access::execute
                                     : writes ? Access::write
                                              : Access::read) ||
      (executes && facts.prober.mount(facts.path()).no_execute)) {
    return std::nullopt;
  }
  return refusal(facts, (executes ? "executing " : "") + facts.path());
}

/// A bind or connect that no other restriction forbids.
std::optional<Finding> network_refused(const Case& facts) {
  unsigned port = 0;
  for (const Argument& argument : facts.call().args) {
    for (const std::string_view member : {"sin_port", "sin6_port"}) {
      const std::string text = to_text(argument.value[member]);
      port = std::max(port, static_cast<unsigned>(std::atoi(word_after(text, "htons(", ")").c_str())));
    }
  }
  const bool binds = facts.call().name == "bind";
  const auto first_free =
      static_cast<unsigned>(std::atoi(read_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", 32).c_str()));
  if (port == 0 || !facts.snapshot() ||
      (binds && port < first_free && !facts.prober.has_capability(CAP_NET_BIND_SERVICE))) {
    return std::nullopt;
  }
  return refusal(facts, fmt::format("{}{}", binds ? "listening on port " : "connecting to port ", port));
}

/// Yama allows a process to trace only its descendants.
std::optional<Finding> trace_refused(const Case& facts) {
  const int scope = std::atoi(read_file("/proc/sys/kernel/yama/ptrace_scope", 16).c_str());
  if (scope == 0 || facts.prober.has_capability(CAP_SYS_PTRACE)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the security module Yama lets it trace no process that is not its own child";
  finding.looked_at.push_back(fmt::format("kernel.yama.ptrace_scope is {}", scope));
  finding.remedy = "sysctl kernel.yama.ptrace_scope=0, or run it with CAP_SYS_PTRACE";
  return finding;
}

constexpr Rule security_modules_table[] = {
    {"security-module", 25, file_calls, "EACCES EPERM", "", "", file_refused},
    {"security-module", 30, "execve execveat", "EACCES EPERM", "", "", file_refused},
    {"security-module", 25, "bind connect", "EACCES EPERM", "", "", network_refused},
    {"security-module", 30, "ptrace", "EPERM EACCES", "", "", trace_refused},
};

}  // namespace

std::span<const Rule> security_module_rules() {
  return security_modules_table;
}

}  // namespace tracer::explain::rules
