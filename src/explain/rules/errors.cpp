// Errors that say all: one sentence for each, with what the kernel's error number leaves out.
#include <fmt/core.h>
#include <linux/capability.h>
#include <linux/limits.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/owners.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

constexpr std::string_view two_path_calls = "link linkat rename renameat renameat2";
constexpr std::string_view removing_calls = "unlink unlinkat rmdir rename renameat renameat2";

std::optional<Finding> other_file_system(const Case& facts) {
  const Step& step = *facts.step;
  if (step.new_path.empty()) {
    return std::nullopt;
  }
  const bool is_link = facts.call().name.starts_with("link");
  Finding finding;
  finding.cause = step.path + " and " + step.new_path + " are on different file systems, and " +
                  (is_link ? "a hard link cannot reach from one to another" : "rename cannot move from one to another");
  const std::string from = facts.prober.mount(step.path).point;
  const std::string to = facts.prober.mount(directory_of(step.new_path)).point;
  if (!from.empty() && !to.empty() && from != to) {
    finding.looked_at.push_back("the file systems are mounted at " + from + " and " + to);
  }
  finding.remedy =
      is_link ? "copy it (cp -p), or make a symbolic link (ln -s)" : "copy it, then remove the old one (mv)";
  return finding;
}

std::optional<Finding> being_run(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (!walk.exists()) {
    return std::nullopt;
  }
  const std::vector<pid_t> runners = runners_of(facts.prober.tracer_path(walk.real));
  Finding finding;
  finding.cause = facts.path() + " is being run" + (runners.empty() ? "" : " by " + describe_processes(runners)) +
                  ", and the kernel lets nobody write to a running program (text file busy)";
  finding.remedy =
      "replace the file instead of writing into it (install, or cp --remove-destination), or stop the program";
  return finding;
}

std::optional<Finding> name_too_long(const Case& facts) {
  if (facts.path().empty()) {
    return std::nullopt;
  }
  std::string longest;
  std::size_t at = 0;
  while (at < facts.path().size()) {
    const std::size_t slash = std::min(facts.path().find('/', at), facts.path().size());
    if (slash - at > longest.size()) {
      longest = facts.path().substr(at, slash - at);
    }
    at = slash + 1;
  }
  constexpr std::size_t max_shown = 40;
  Finding finding;
  finding.cause = longest.size() > NAME_MAX
                      ? fmt::format("the name {}… is too long: it has {} bytes, and the file system takes at most {}",
                                    printable(longest.substr(0, max_shown)), longest.size(), NAME_MAX)
                      : fmt::format("the path {}… is too long: it has {} bytes, and the kernel takes at most {}",
                                    printable(facts.path().substr(0, max_shown)), facts.path().size(), PATH_MAX - 1);
  finding.remedy = "use a shorter name, or see what made this one";
  return finding;
}

/// Only the owner of a file or of its directory may remove it from a directory with the sticky bit.
std::optional<Finding> sticky_directory(const Case& facts) {
  const Walk directory = facts.prober.walk(directory_of(facts.path()));
  const Walk file = facts.prober.walk(facts.path());
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  if (!directory.exists() || !file.exists() || !user || (directory.info().st_mode & S_ISVTX) == 0 ||
      *user == directory.info().st_uid || *user == file.info().st_uid || facts.prober.has_capability(CAP_FOWNER)) {
    return std::nullopt;
  }
  Finding finding;
  const std::string owner = user_name(file.info().st_uid);
  finding.cause = directory.real + " is a sticky directory (" + Prober::describe(directory.info()) +
                  "), in which only " + owner + " may remove or rename " + base_name(facts.path()) + ": " +
                  facts.prober.user() + " may not";
  finding.remedy = "run it as " + owner;
  return finding;
}

std::optional<Finding> link_to_directory(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.step->path);
  if (!walk.exists() || !S_ISDIR(walk.info().st_mode)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = facts.step->path + " is a directory, and no file system allows hard links to directories";
  finding.remedy = "make a symbolic link (ln -s), or a bind mount";
  return finding;
}

/// fs.protected_regular: whoever may write a file may still not open it with O_CREAT in a sticky directory of others
/// (proc_sys_fs(5)).
std::optional<Finding> protected_file(const Case& facts) {
  const bool creates =
      contains(to_text(facts.call().argument("flags").value), "O_CREAT") || facts.call().name == "creat";
  const Walk directory = facts.prober.walk(directory_of(facts.path()));
  const Walk file = facts.prober.walk(facts.path());
  if (!creates || !directory.exists() || !file.exists() || (directory.info().st_mode & S_ISVTX) == 0) {
    return std::nullopt;
  }
  const bool is_fifo = S_ISFIFO(file.info().st_mode);
  const std::string setting = is_fifo ? "protected_fifos" : "protected_regular";
  const std::string value = first_line(read_file("/proc/sys/fs/" + setting, 16));
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  constexpr mode_t group_and_others = S_IWGRP | S_IWOTH;
  const mode_t applies_to = value == "2" ? group_and_others : value == "1" ? mode_t{S_IWOTH} : mode_t{0};
  if ((directory.info().st_mode & applies_to) == 0 || !user || *user == file.info().st_uid ||
      file.info().st_uid == directory.info().st_uid || !facts.prober.may(file.info(), Access::write)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "fs." + setting + " is " + value + ": in the sticky directory " + directory.real +
                  " nobody, not even root, may open " + base_name(facts.path()) + " of " +
                  user_name(file.info().st_uid) + " with O_CREAT";
  finding.looked_at.push_back(facts.prober.describe_path(file));
  finding.remedy = "open it without O_CREAT, run it as " + user_name(file.info().st_uid) + ", or use another directory";
  return finding;
}

bool is_set(std::string_view setting) {
  const std::string value = first_line(read_file("/proc/sys/fs/" + std::string(setting), 16));
  return !value.empty() && value != "0";
}

/// fs.protected_hardlinks: a link to a file of another user needs the right to read and write it (proc_sys_fs(5)).
std::optional<Finding> protected_hard_link(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.step->path);
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  if (!walk.exists() || !user || *user == walk.info().st_uid || facts.prober.has_capability(CAP_FOWNER) ||
      !is_set("protected_hardlinks") ||
      (facts.prober.may(walk.info(), Access::read) && facts.prober.may(walk.info(), Access::write) &&
       (walk.info().st_mode & S_ISUID) == 0)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "fs.protected_hardlinks is set: " + facts.prober.user() + " may make no hard link to " + walk.real +
                  ", which is not its own, and which it may not read and write (" + Prober::describe(walk.info()) + ")";
  finding.remedy = "make a symbolic link (ln -s), copy it, or run it as " + user_name(walk.info().st_uid);
  return finding;
}

/// fs.protected_symlinks: in a sticky directory that others may write to, a link is followed only by its owner, or if
/// it belongs to the owner of the directory (proc_sys_fs(5)).
std::optional<Finding> protected_symbolic_link(const Case& facts) {
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  if (!user || !is_set("protected_symlinks")) {
    return std::nullopt;
  }
  const Walk walk = facts.prober.walk(facts.path());
  for (const Component& part : walk.components) {
    const Walk directory = facts.prober.walk(directory_of(part.path));
    constexpr mode_t open_and_sticky = S_ISVTX | S_IWOTH;
    const bool is_refused = S_ISLNK(part.info.st_mode) && directory.exists() && part.info.st_uid != *user &&
                            part.info.st_uid != directory.info().st_uid &&
                            (directory.info().st_mode & open_and_sticky) == open_and_sticky;
    if (is_refused) {
      Finding finding;
      finding.cause = "fs.protected_symlinks is set: in the sticky directory " + directory.real + ' ' +
                      facts.prober.user() + " may not follow the link " + part.path + " of " +
                      user_name(part.info.st_uid);
      finding.remedy = "name the file itself, or run it as " + user_name(part.info.st_uid);
      return finding;
    }
  }
  return std::nullopt;
}

std::optional<Finding> into_itself(const Case& facts) {
  const Step& step = *facts.step;
  if (step.path.empty() || !step.new_path.starts_with(step.path + '/')) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "a directory cannot be moved below itself: " + step.path + " to " + step.new_path;
  finding.remedy = "name a place outside " + step.path;
  return finding;
}

std::optional<Finding> busy(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (!walk.exists()) {
    return std::nullopt;
  }
  const std::vector<pid_t> users = users_below(walk.real);
  Finding finding;
  finding.cause =
      facts.path() + " is busy" +
      (users.empty() ? "" : ": " + describe_processes(users) + " has its working directory or an open file there");
  if (users.empty() && facts.prober.mount(walk.real).point == walk.real) {
    finding.cause += ": a file system is mounted there";
  }
  finding.remedy = users.empty() ? "fuser -vm " + shell_word(facts.path()) + " shows who uses it"
                                 : "let it leave (cd elsewhere, close the files), or stop it";
  return finding;
}

std::optional<Finding> not_mounted(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (!walk.exists() || facts.prober.mount(walk.real).point == walk.real) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = facts.path() + " is not a mount point: nothing is mounted there";
  finding.remedy = "findmnt lists what is mounted";
  return finding;
}

std::optional<Finding> no_process(const Case& facts) {
  const std::int64_t pid = facts.call().argument("pid").value.number;
  if (pid <= 0) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = fmt::format("there is no process {}", pid);
  finding.remedy = "see where it has the number from: a file that names an ended process, perhaps";
  return finding;
}

/// read(2) of a directory fails with EISDIR, but the program could open it.
std::optional<Finding> directory_was_read(const Case& facts) {
  const auto& opened = facts.process.opened;
  std::string line = line_with(facts.messages, "s a directory");
  for (const std::string_view words : {"EISDIR: ", "read error"}) {
    line = line.empty() ? line_with(facts.messages, words) : line;
  }
  const auto at = std::find_if(opened.rbegin(), opened.rend(), [&](const Opened& one) {
    const Walk walk = facts.prober.walk(one.path);
    return walk.exists() && S_ISDIR(walk.info().st_mode) &&
           (is_named(one.path, line) || is_named(base_name(one.path), line) || contains(line, "EISDIR"));
  });
  if (at == opened.rend()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = at->path + " is a directory where a file was expected";
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(at->path)));
  finding.remedy = "name a file, such as one in " + at->path;
  return finding;
}

/// Any other call whose error the program reports.
std::optional<Finding> reported_error(const Case& facts) {
  if (is_listed(facts.call().error, "ENOENT ENOTDIR EACCES ECONNREFUSED")) {
    return std::nullopt;  // the rules for these have looked at it
  }
  const std::string text = error_text_of(facts.call().error);
  if (!contains(facts.messages, text)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = facts.call().name + (facts.path().empty() ? "" : " of " + facts.path()) + " failed: " + text;
  finding.remedy = "see " + facts.call().name + "(2), error " + facts.call().error;
  return finding;
}

constexpr Rule errors_table[] = {
    {"other-file-system", 40, two_path_calls, "EXDEV", "", "", other_file_system},
    {"program-is-run", 40, "open openat openat2 creat truncate", "ETXTBSY", "", "", being_run},
    {"name-too-long", 40, file_calls, "ENAMETOOLONG", "", "", name_too_long},
    {"sticky-folder", 40, removing_calls, "EPERM", "", "", sticky_directory},
    {"link-to-folder", 45, "link linkat", "EPERM", "", "", link_to_directory},
    {"protected-file", 50, "open openat openat2 creat", "EACCES", "", "", protected_file},
    {"protected-link", 45, "link linkat", "EPERM", "", "", protected_hard_link},
    {"protected-link", 50, file_calls, "EACCES", "", "", protected_symbolic_link},
    {"move-into-itself", 40, "rename renameat renameat2", "EINVAL", "", "", into_itself},
    {"busy", 35, "umount2 rmdir unlinkat rename renameat renameat2 mount move_mount", "EBUSY", "", "", busy},
    {"not-mounted", 35, "umount2", "EINVAL", "", "", not_mounted},
    {"no-process", 30,
     "kill tgkill tkill pidfd_open sched_getaffinity sched_setaffinity sched_getscheduler sched_setscheduler "
     "sched_getparam sched_getattr sched_setattr prlimit64 ptrace process_vm_readv getpgid getsid",
     "ESRCH", "", "", no_process},
    {"folder-as-file", 35, "", "", "s a directory|EISDIR: |read error", "", directory_was_read},
    {"failed-call", 0, "*", "", "", "", reported_error},
};

}  // namespace

std::span<const Rule> error_rules() {
  return errors_table;
}

}  // namespace tracer::explain::rules
