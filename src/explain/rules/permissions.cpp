// Refusals for other reasons than a file's mode: capabilities, seccomp, tracing, ownership, authentication.
#include <fmt/core.h>
#include <linux/capability.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"
#include "explain/socket_address.h"

namespace tracer::explain::rules {

namespace {

struct Need {
  std::string_view calls;
  unsigned capability;
  std::string_view name;
  std::string_view setting = {};  ///< in /proc/sys, which decides who needs it
};

/// The capability that a call needs; without it, the call fails with EPERM (capabilities(7)).
constexpr std::array<Need, 18> needs = {{
    {"syslog", CAP_SYSLOG, "CAP_SYSLOG", "kernel.dmesg_restrict"},
    {"perf_event_open", CAP_PERFMON, "CAP_PERFMON", "kernel.perf_event_paranoid"},
    {"bpf", CAP_BPF, "CAP_BPF", "kernel.unprivileged_bpf_disabled"},
    {"userfaultfd", CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "vm.unprivileged_userfaultfd"},
    {"mount umount2 pivot_root unshare setns swapon swapoff sethostname setdomainname quotactl move_mount "
     "mount_setattr open_tree fsopen fspick fsconfig fsmount",
     CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {"clone clone3", CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {"chroot", CAP_SYS_CHROOT, "CAP_SYS_CHROOT"},
    {"mknod mknodat", CAP_MKNOD, "CAP_MKNOD"},
    {"setuid setresuid setreuid setfsuid", CAP_SETUID, "CAP_SETUID"},
    {"setgid setresgid setregid setgroups", CAP_SETGID, "CAP_SETGID"},
    {"chown fchown lchown fchownat", CAP_CHOWN, "CAP_CHOWN"},
    {"socket setsockopt", CAP_NET_RAW, "CAP_NET_RAW"},
    {"settimeofday clock_settime adjtimex clock_adjtime", CAP_SYS_TIME, "CAP_SYS_TIME"},
    {"init_module finit_module delete_module", CAP_SYS_MODULE, "CAP_SYS_MODULE"},
    {"setpriority sched_setscheduler sched_setattr nice", CAP_SYS_NICE, "CAP_SYS_NICE"},
    {"ptrace process_vm_readv process_vm_writev kcmp", CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "kernel.yama.ptrace_scope"},
    {"setrlimit prlimit64", CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE"},
    {"ioprio_set", CAP_SYS_NICE, "CAP_SYS_NICE"},
}};

constexpr std::string_view privileged_calls =
    "ioprio_set mount umount2 pivot_root unshare setns swapon swapoff sethostname setdomainname quotactl syslog "
    "move_mount "
    "mount_setattr open_tree fspick fsconfig "
    "fsopen fsmount clone clone3 chroot setuid setresuid setreuid setgid setresgid setregid setgroups chown fchown "
    "lchown "
    "fchownat socket setsockopt settimeofday clock_settime adjtimex clock_adjtime init_module finit_module "
    "delete_module "
    "setpriority sched_setscheduler sched_setattr ptrace process_vm_readv process_vm_writev setrlimit prlimit64 mknod "
    "mknodat mlock mlockall bpf perf_event_open iopl ioperm reboot acct capset keyctl userfaultfd fanotify_init "
    "io_uring_setup personality kexec_load";

/// True if the process has a seccomp filter that is not the tracer's.
bool has_filter(const Case& facts) {
  return facts.snapshot() && facts.snapshot()->field("Seccomp") == "2" &&
         facts.snapshot()->id("Seccomp_filters", 0).value_or(1) > facts.story.tracer_filters();
}

const Need* need_of(const Call& call) {
  const auto* at =
      std::find_if(needs.begin(), needs.end(), [&](const Need& n) { return is_listed(call.name, n.calls); });
  return at == needs.end() ? nullptr : at;
}

std::optional<Finding> seccomp_refusal(const Case& facts) {
  if (!has_filter(facts)) {
    return std::nullopt;
  }
  const Need* need = need_of(facts.call());
  if (facts.call().error == "EPERM" && need != nullptr && !facts.prober.has_capability(need->capability)) {
    return std::nullopt;  // it lacks the capability, whatever the filter allows
  }
  Finding finding;
  finding.cause =
      "a seccomp filter forbids the system call " + facts.call().name + " (it fails with " + facts.call().error + ")";
  finding.looked_at.push_back("its status had Seccomp: 2, Seccomp_filters: " +
                              facts.snapshot()->field("Seccomp_filters"));
  finding.remedy = "allow " + facts.call().name +
                   " in the filter (docker: --security-opt seccomp=…, systemd: "
                   "SystemCallFilter=)";
  finding.weight = facts.call().error == "ENOSYS" ? 5 : 0;
  return finding;
}

std::optional<Finding> seccomp_kill(const Case& facts) {
  Finding finding;
  std::string call;
  if (facts.process.crash) {
    call = to_text(facts.process.crash->signal.info["si_syscall"]);
    const std::size_t underscores = call.rfind("__NR_");
    call = underscores == std::string::npos ? call : call.substr(underscores + 5);
  }
  if ((call.empty() || call == "NULL") && facts.story.complete()) {
    // SECCOMP_RET_KILL delivers no siginfo; the last call is the one that the filter refused.
    Time latest{};
    for (const auto& [tid, last] : facts.process.threads) {
      call = last.since >= latest ? last.call.name : call;
      latest = std::max(latest, last.since);
    }
  }
  const bool known = !call.empty() && call != "NULL";
  finding.cause = "a seccomp filter killed it for the system call " + (known ? call : std::string("that it made last"));
  if (!known) {
    finding.remedy =
        "run it again with --explain -o FILE: with a full trace the call has a name, which the filter then "
        "has to allow";
    return finding;
  }
  finding.remedy = "allow " + (known ? call : std::string("that call")) +
                   " in the filter (docker: --security-opt seccomp=…, systemd: SystemCallFilter=)";
  return finding;
}

/// Only CAP_SYS_RESOURCE lets a process raise a limit above the hard one, setrlimit(2).
std::optional<Finding> limit_not_raised(const Case& facts) {
  struct Limit {
    std::string_view resource;
    std::string_view name;  ///< in /proc/PID/limits
    std::string_view words;
    std::string_view remedy;
  };
  constexpr std::array<Limit, 4> limits = {{
      {"RLIMIT_NOFILE", "Max open files", "open files", "ulimit -n with a larger number (systemd: LimitNOFILE=)"},
      {"RLIMIT_NPROC", "Max processes", "processes", "ulimit -u with a larger number (systemd: LimitNPROC=)"},
      {"RLIMIT_MEMLOCK", "Max locked memory", "locked memory",
       "ulimit -l with a larger number (systemd: LimitMEMLOCK=)"},
      {"RLIMIT_CORE", "Max core file size", "the size of core files",
       "ulimit -c with a larger number (systemd: LimitCORE=)"},
  }};
  const std::string resource = to_text(facts.call().argument("resource").value);
  const auto* at =
      std::find_if(limits.begin(), limits.end(), [&](const Limit& one) { return one.resource == resource; });
  if (at == limits.end() || facts.prober.has_capability(CAP_SYS_RESOURCE)) {
    return std::nullopt;
  }
  const auto now = facts.snapshot() ? facts.snapshot()->limit(at->name) : std::nullopt;
  Finding finding;
  finding.rule = "limit-too-low";
  finding.cause = "the limit of " + std::string(at->words) + (now ? " (" + std::to_string(*now) + ")" : std::string()) +
                  " is too low for it, and only CAP_SYS_RESOURCE lets it raise that";
  finding.remedy = at->remedy;
  return finding;
}

std::optional<Finding> missing_capability(const Case& facts) {
  if (is_listed(facts.call().name, "setrlimit prlimit64")) {
    if (auto limit = limit_not_raised(facts)) {
      return limit;
    }
  }
  const Need* need = need_of(facts.call());
  Finding finding;
  if (need == nullptr) {
    finding.cause = facts.prober.user() + " has not the privilege for " + facts.call().name;
    finding.remedy = "run it with more privileges (sudo), if it needs them";
    finding.weight = -10;
  } else if (facts.prober.has_capability(need->capability) && facts.prober.is_in_other_user_namespace()) {
    finding.cause = "it has " + std::string(need->name) + " in its own user namespace only, and what " +
                    facts.call().name + " would change belongs to another";
    finding.remedy = "make the namespaces that it needs as well (unshare -Urm, -Urn), or run it as the real root";
  } else if (facts.prober.has_capability(need->capability)) {
    return std::nullopt;
  } else {
    finding.cause = facts.call().name + " needs the capability " + std::string(need->name) + ", which it does not have";
    finding.remedy = "run it with it: sudo, docker --cap-add=" + std::string(need->name.substr(4)) +
                     ", systemd AmbientCapabilities=" + std::string(need->name);
    std::string setting = "/proc/sys/" + std::string(need->setting);
    std::replace(setting.begin(), setting.end(), '.', '/');
    if (const std::string value = first_line(read_file(setting, 16)); !need->setting.empty() && !value.empty()) {
      finding.cause += fmt::format(" ({} is {})", need->setting, value);
    }
  }
  if (facts.snapshot()) {
    finding.looked_at.push_back(facts.prober.user() + ", CapEff " + facts.snapshot()->field("CapEff"));
  }
  return finding;
}

/// True if a call of any process was refused: what one says may be about the call of another.
bool was_any_refused(const Story& story) {
  return std::any_of(story.processes().begin(), story.processes().end(), [](const auto& entry) {
    return std::any_of(entry.second.steps.begin(), entry.second.steps.end(), [](const Step& step) {
      return step.kind == Step::Kind::failure && is_listed(step.call.error, "EACCES EPERM");
    });
  });
}

/// Set-user-ID programs and others ask who runs them, and refuse without a call that fails.
std::optional<Finding> refuses_user(const Case& facts) {
  const auto user = facts.process.snapshot ? facts.process.snapshot->id("Uid", 0) : std::nullopt;
  const bool may_be_about_another =
      std::any_of(facts.process.steps.begin(), facts.process.steps.end(),
                  [](const Step& step) { return step.call.name == "connect" && peer_of(step.call).port != 0; });
  if (!user || *user == 0 || may_be_about_another || was_any_refused(facts.story)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause =
      "user " + user_name(static_cast<unsigned>(*user)) + " may not do this, as " + facts.process.name() + " says";
  finding.looked_at.emplace_back("no system call that is watched was refused: it may have asked who runs it");
  finding.remedy = "sudo, or run it as root";
  return finding;
}

/// user_namespaces(7): an ID that has no mapping cannot be set.
std::optional<Finding> id_not_mapped(const Case& facts) {
  if (!facts.prober.is_in_other_user_namespace()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "a user or group ID that it wants is not mapped in its user namespace (" + facts.call().name + ")";
  finding.remedy =
      "map more IDs (unshare --map-auto, newuidmap and /etc/subuid), or use one that is mapped: "
      "cat /proc/self/uid_map";
  return finding;
}

/// The kernel ignores the set-user-ID bit of a program whose tracer lacks CAP_SYS_PTRACE (execve(2)).
std::optional<Finding> setuid_under_tracing(const Case& facts) {
  const Process& process = facts.process;
  if (process.programs.empty() || !process.snapshot || !facts.story.alters_privileges()) {
    return std::nullopt;
  }
  const Walk walk = facts.prober.walk(process.programs.back().path);
  // Programs that have got the rights give them up for as long as they can, and have them as another user ID then.
  const auto has_owner = [&](unsigned kind) { return process.snapshot->id("Uid", kind) == walk.info().st_uid; };
  if (!walk.exists() || (walk.info().st_mode & S_ISUID) == 0 || !process.snapshot->id("Uid", 0) || has_owner(0) ||
      has_owner(1) || has_owner(2)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the tracing itself: " + process.programs.back().path +
                  " is a set-user-ID program, and the kernel does " +
                  "not give a program that an ordinary user traces the rights of " + user_name(walk.info().st_uid);
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.looked_at.push_back("it ran as " + facts.prober.user());
  finding.remedy = "trace it as root: sudo tracer -u USER --explain …";
  return finding;
}

/// Only the owner of a file may change its mode, times and access control list.
std::optional<Finding> not_owner(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  if (!walk.exists() || !user || *user == walk.info().st_uid || facts.prober.has_capability(CAP_FOWNER)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = facts.path() + " belongs to " + user_name(walk.info().st_uid) +
                  ", and only its owner may do that: " + facts.prober.user() + " may not";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy = "run it as " + user_name(walk.info().st_uid) + ", or chown the file first";
  return finding;
}

/// Programs that refuse secret files that others can read, or directories that others can write.
std::optional<Finding> too_open(const Case& facts) {
  std::string line;
  for (const std::string_view words : {"has invalid permissions", "are too open", "has wrong ownership",
                                       "bad permissions", "bad ownership or modes", "is group or world"}) {
    line = line.empty() ? line_with(facts.messages, words) : line;
  }
  const std::size_t quote = line.find_first_of("\"'");
  const std::size_t end = quote == std::string::npos ? quote : line.find(line[quote], quote + 1);
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string path = line.substr(quote + 1, end - quote - 1);
  if (!path.starts_with('/') && facts.process.working_directory.starts_with('/')) {
    path = facts.process.working_directory + '/' + path;
  }
  const Walk walk = facts.prober.walk(path);
  if (!walk.exists()) {
    return std::nullopt;
  }
  Finding finding;
  const bool is_directory = S_ISDIR(walk.info().st_mode);
  finding.cause = "it refuses " + printable(path) + " as others may use it or it is not its own (" +
                  Prober::describe(walk.info()) + ")";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy = (is_directory ? "chmod 0700 " : "chmod 0600 ") + shell_word(printable(path)) +
                   ", owned by the user that it runs as";
  return finding;
}

/// Returns the name after the word `before`, without quotation marks, including those of UTF-8.
std::string name_after(const std::string& line, std::string_view before) {
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  constexpr std::string_view no_names = "or and name id to for of in is does not exist as the to by from";
  for (std::size_t at = line.find(before); at != std::string::npos; at = line.find(before, at + 1)) {
    const std::size_t end = at + before.size();
    if ((at != 0 && is_of_name(line[at - 1])) || (end < line.size() && is_of_name(line[end]))) {
      continue;  // a part of a longer word
    }
    const auto begin = std::find_if(line.begin() + static_cast<std::ptrdiff_t>(end), line.end(), is_of_name);
    std::string name(begin, std::find_if_not(begin, line.end(), is_of_name));
    if (!name.empty() && !is_listed(name, no_names)) {
      return name;
    }
  }
  return {};
}

bool has_entry(const Case& facts, const std::string& file, const std::string& name) {
  const std::string text = '\n' + read_file(facts.prober.tracer_path(file), std::size_t{4} << 20);
  return text.find('\n' + name + ':') != std::string::npos;
}

bool has_opened(const Process& process, std::string_view path) {
  return std::any_of(process.opened.begin(), process.opened.end(),
                     [&](const Opened& one) { return one.order >= process.last_exec && one.path == path; });
}

/// True if `name` stands in `line` as the name of an account does: in quotation marks, as an argument of the command
/// line, or at the end of the sentence. "invalid user input: …" speaks of something else.
bool is_account_name(const Case& facts, const std::string& line, const std::string& name) {
  const std::size_t at = line.find(name);
  const std::size_t end = at + name.size();
  const auto is_quote = [](unsigned char c) {
    return contains("\"'`()", std::string(1, static_cast<char>(c))) || c >= 0x80;
  };
  if (end < line.size() && is_quote(static_cast<unsigned char>(line[end]))) {
    return true;
  }
  const auto words = facts.process.words();
  if (std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word.find(' ') == std::string::npos && is_named(name, word);
      })) {
    return true;
  }
  const std::string rest = line.substr(std::min(line.find_first_not_of(" :.", end), line.size()));
  return rest.empty() || rest == "not found" || rest.starts_with("does not exist") || rest.starts_with("is ") ||
         rest.starts_with("failed");
}

/// A user or group that a message names, that the process looked for, and that has no entry in /etc/passwd or
/// /etc/group.
std::optional<Finding> unknown_user(const Case& facts) {
  struct Pattern {
    std::string_view before;
    std::string_view file;
    std::string_view what;
  };
  constexpr std::array<Pattern, 9> patterns = {{
      {"user or group", "/etc/passwd", "user"},
      {"reuid", "/etc/passwd", "user"},
      {"regid", "/etc/group", "group"},
      {"user", "/etc/passwd", "user"},
      {"User", "/etc/passwd", "user"},
      {"getpwnam", "/etc/passwd", "user"},
      {"group", "/etc/group", "group"},
      {"Group", "/etc/group", "group"},
      {"getgrnam", "/etc/group", "group"},
  }};
  const std::string messages = without_remarks(facts.messages);
  for (const std::string_view failure :
       {"does not exist", "nknown", "nvalid", "o such", "not found", "failed", "an't find"}) {
    const std::string line = line_with(messages, failure);
    for (const Pattern& pattern : patterns) {
      std::string name = name_after(line, pattern.before);
      if (line.ends_with(": no such " + std::string(pattern.what))) {  // id: 'x': no such user
        name = name_after(" " + word_before(line, ": no such "), " ");
      }
      if (name.empty() || line.find(failure) == line.find(name) || !has_opened(facts.process, pattern.file) ||
          !is_account_name(facts, line, name) || has_entry(facts, std::string(pattern.file), name)) {
        continue;
      }
      Finding finding;
      finding.cause = "the " + std::string(pattern.what) + ' ' + printable(name) + " does not exist on this machine";
      finding.looked_at.push_back(std::string(pattern.file) + " has no entry " + printable(name));
      finding.remedy = "name a " + std::string(pattern.what) + " that exists (getent " +
                       base_name(std::string(pattern.file)) + " lists them), or create this one first";
      return finding;
    }
  }
  return std::nullopt;
}

/// rtnetlink(7) sends the error in an answer, so that no call fails.
std::optional<Finding> network_administration(const Case& facts) {
  if (!facts.snapshot() || facts.prober.has_capability(CAP_NET_ADMIN)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "changing the network needs the capability CAP_NET_ADMIN, which it does not have";
  finding.looked_at.push_back(facts.prober.user() + ", CapEff " + facts.snapshot()->field("CapEff"));
  finding.remedy = "run it as root or with the capability, or in a network namespace of its own (unshare -Urn)";
  return finding;
}

std::optional<Finding> not_authenticated(const Case& facts) {
  if (unknown_user(facts)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause =
      "it did not accept who asks: the password was wrong, or none could be typed, or the account is locked or has "
      "none";
  finding.remedy = "start it on a terminal and type the right password, or run it as root";
  return finding;
}

/// SQLite opens a database without write permission for reading only, and fails at the first change.
std::optional<Finding> database_for_reading_only(const Case& facts) {
  const auto& steps = facts.process.steps;
  const auto refused = std::find_if(steps.rbegin(), steps.rend(), [](const Step& step) {
    return step.kind == Step::Kind::failure && is_listed(step.call.name, "open openat") &&
           is_listed(step.call.error, "EACCES EPERM EROFS");
  });
  if (refused == steps.rend()) {
    return std::nullopt;
  }
  const bool fixed = refused->call.error == "EROFS";
  Finding finding;
  const Walk directory = facts.prober.walk(directory_of(refused->path));
  if (!fixed && !facts.prober.exists(refused->path) && directory.exists() &&
      !facts.prober.may(directory.info(), Access::write)) {
    finding.cause = facts.prober.user() + " may not write to the directory " + directory.real + " (" +
                    Prober::describe(directory.info()) + "), in which the database has to make " +
                    base_name(refused->path);
    finding.remedy = "give the user the right to write to the directory, or run as its owner";
    finding.evidence.push_back(&*refused);
    return finding;
  }
  finding.cause = "the database " + refused->path + " is open for reading only: " +
                  (fixed ? "its file system may not be written" : facts.prober.user() + " may not write it");
  const Walk walk = facts.prober.walk(refused->path);
  if (walk.exists()) {
    finding.looked_at.push_back(walk.real + ": " + Prober::describe(walk.info()));
  }
  finding.remedy =
      fixed ? "put it elsewhere, or mount that file system for writing"
            : "give the user the right to write the file and the directory that it is in, or run as its owner";
  finding.evidence.push_back(&*refused);
  return finding;
}

constexpr std::string_view watched_for_filters =
    "socket connect bind listen clone clone3 unshare mount setns keyctl bpf perf_event_open userfaultfd ptrace chroot "
    "mkdir mkdirat openat open execve execveat io_uring_setup personality prctl setuid setgid fork vfork kill getcwd "
    "uname sysinfo getrandom memfd_create chmod fchmodat chown fchownat";

std::optional<Finding> signal_refused(const Case& facts) {
  const Call& call = facts.call();
  const std::int64_t pid = call.argument("pid").value.number;
  if (pid <= 0) {
    return std::nullopt;
  }
  const std::string number = std::to_string(pid);
  const Walk process = facts.prober.walk("/proc/" + number);
  const std::string owner = process.exists() ? user_name(process.info().st_uid) : std::string();
  Finding finding;
  finding.cause = facts.prober.user() + " may not send signals to process " + number +
                  (owner.empty() ? "" : ", which belongs to " + owner);
  finding.remedy = "run it as " + (owner.empty() || owner == "root" ? "root" : owner + " or root");
  return finding;
}

constexpr Rule permissions_table[] = {
    {"refuses-user", 15, "", "", "ermission denied|peration not permitted", "", refuses_user},
    {"signal-refused", 28, "kill tgkill tkill", "EPERM", "", "", signal_refused},
    {"not-owner", 30, "chmod fchmodat fchmodat2 utimensat utime utimes setxattr lsetxattr removexattr lremovexattr",
     "EPERM", "", "", not_owner},
    {"setuid-under-tracing", 45, "", "", "", "exit", setuid_under_tracing},
    {"seccomp-refusal", 30, watched_for_filters, "EPERM ENOSYS", "", "", seccomp_refusal},
    {"seccomp-kill", 30, "", "", "", "SIGSYS", seccomp_kill},
    {"missing-capability", 40, "", "", "RTNETLINK answers: Operation not permitted", "", network_administration},
    {"not-authenticated", 40, "", "",
     "Authentication failure|authentication failure|Authentication token manipulation error|incorrect password", "",
     not_authenticated},
    {"database-read-only", 40, "", "", "attempt to write a readonly database", "", database_for_reading_only},
    {"permissions-too-open", 75, "", "",
     "has invalid permissions|are too open|has wrong ownership|bad permissions|bad ownership or modes|is group or "
     "world",
     "", too_open},
    {"unknown-user", 30, "", "", "user|User|getpwnam|group|Group|getgrnam|reuid|regid", "", unknown_user},
    {"id-not-mapped", 45, "chown fchown lchown fchownat setuid setgid setreuid setregid setresuid setresgid setgroups",
     "EINVAL", "", "", id_not_mapped},
    {"missing-capability", 25, privileged_calls, "EPERM EACCES", "", "", missing_capability},
};

}  // namespace

std::span<const Rule> permission_rules() {
  return permissions_table;
}

}  // namespace tracer::explain::rules
