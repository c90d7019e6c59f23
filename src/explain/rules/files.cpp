// Files, directories, symbolic links and devices.
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/directory.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

/// Returns the path as the program gave it.
std::string given_path(const Call& call) {
  for (const Argument& argument : call.args) {
    if (argument.type == "path") {
      return argument.value.text;
    }
  }
  return {};
}

std::optional<Finding> directory_deleted(const Case& facts) {
  Finding finding;
  finding.cause = "the directory that it was started in has been deleted";
  const std::string gone = " (deleted)";
  const std::string& directory = facts.process.working_directory;
  if (directory.size() > gone.size() && directory.compare(directory.size() - gone.size(), gone.size(), gone) == 0) {
    finding.cause += ": " + directory.substr(0, directory.size() - gone.size());
  }
  finding.remedy = "cd to a directory that exists (cd \"$PWD\" if it was made again) and start it there";
  return finding;
}

std::optional<Finding> bad_link(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (walk.dangling.empty()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = walk.dangling + " is a link to what does not exist: " + walk.stopped;
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy =
      "make " + shell_word(walk.stopped) + ", or set the link right: ln -sfn TARGET " + shell_word(walk.dangling);
  finding.weight = 5;
  return finding;
}

std::optional<Finding> link_loop(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  Finding finding;
  finding.cause = "the links of " + facts.path() + " go round in a circle";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy =
      "set one of them right: ln -sfn TARGET " + shell_word(walk.stopped.empty() ? facts.path() : walk.stopped);
  return finding;
}

std::optional<Finding> file_as_directory(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  Finding finding;
  const bool known = walk.error == ENOTDIR;
  const bool is_whole = walk.exists() && !S_ISDIR(walk.info().st_mode);
  finding.cause = (known      ? walk.stopped
                   : is_whole ? facts.path()
                              : "a part of " + facts.path()) +
                  " is a file where a directory was expected";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy = "correct the path " + facts.path() + ", or replace the file by a directory";
  return finding;
}

std::optional<Finding> directory_as_file(const Case& facts) {
  Finding finding;
  finding.cause = facts.path() + " is a directory where a file was expected";
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  finding.remedy = "name a file, or remove the directory " + shell_word(facts.path());
  return finding;
}

std::optional<Finding> missing_device(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  const bool below_dev = facts.path().starts_with("/dev/") && !facts.path().starts_with("/dev/shm/");
  const bool is_device = walk.exists() && (S_ISCHR(walk.info().st_mode) || S_ISBLK(walk.info().st_mode));
  if (walk.exists() ? !is_device : !below_dev) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = is_device ? "no device is behind " + facts.path() + ": no driver answers for it"
                            : "the device " + facts.path() + " does not exist";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  if (is_device) {
    const dev_t number = walk.info().st_rdev;
    finding.looked_at.push_back(fmt::format("its number is {}:{}", major(number), minor(number)));
  }
  finding.remedy = "plug it in or load its kernel module (modprobe); in a container, pass it in (docker run --device=" +
                   shell_word(facts.path()) + ")";
  finding.weight = 5;
  return finding;
}

/// ENXIO for a FIFO without a reader, or for a socket.
std::optional<Finding> nobody_at_other_end(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (!walk.exists() || !(S_ISFIFO(walk.info().st_mode) || S_ISSOCK(walk.info().st_mode))) {
    return std::nullopt;
  }
  const bool is_socket = S_ISSOCK(walk.info().st_mode);
  Finding finding;
  finding.cause = is_socket ? facts.path() + " is a socket, which cannot be opened as a file"
                            : "nobody reads the FIFO " + facts.path() + ", and it did not want to wait for a reader";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy = is_socket
                       ? "connect to it (socat - UNIX-CONNECT:" + shell_word(facts.path()) + "), or name the right file"
                       : "start the program that reads " + facts.path() + " first";
  return finding;
}

/// True for `<string>`, `<stdin>` and the like: interpreters name code so that is in no file, and look for it all the
/// same. False if the messages say that this file is missing.
bool names_no_file(const Case& facts) {
  const std::string name = base_name(facts.path());
  return name.starts_with('<') && name.ends_with('>') &&
         !contains(line_with(facts.messages, name), error_text_of(facts.call().error));
}

/// A relative path that exists in the program's directory or its parent.
std::optional<Finding> wrong_directory(const Case& facts) {
  const std::string given = given_path(facts.call());
  const std::string& program = facts.process.executable();
  const bool is_itself = given == base_name(program);  // programs look for themselves, to learn where they are
  if (given.empty() || given.front() == '/' || program.empty() || is_itself) {
    return std::nullopt;
  }
  for (const std::string& directory : {directory_of(program), directory_of(directory_of(program))}) {
    const std::string there = (directory == "/" ? "" : directory) + '/' + given;
    if (there != facts.path() && facts.prober.exists(there)) {
      Finding finding;
      finding.rule = "wrong-working-folder";
      finding.cause = "it was started in the wrong directory: it looks for " + printable(given) +
                      (facts.process.working_directory.empty() ? "" : " in " + facts.process.working_directory) +
                      ", and that is in " + directory;
      finding.looked_at.push_back(there + " exists");
      finding.remedy = "cd " + shell_word(directory) + " and start it there";
      finding.weight = 15;
      return finding;
    }
  }
  return std::nullopt;
}

bool is_terminal_description(const std::string& path) {
  return path.find("/terminfo/") != std::string::npos || path.find("/.terminfo/") != std::string::npos;
}

std::optional<Finding> missing_terminal(const Case& facts) {
  if (!is_terminal_description(facts.path())) {
    return std::nullopt;
  }
  const std::string terminal = base_name(facts.path());
  Finding finding;
  finding.rule = "unknown-terminal";
  finding.cause = "the terminal type " + printable(terminal) + " (TERM) is not known on this machine";
  finding.remedy = "TERM=xterm-256color, or install its description (Debian: ncurses-term)";
  finding.is_said = contains(facts.messages, "termi");  // terminal, terminfo
  finding.weight = finding.is_said ? 70 : -20;
  return finding;
}

std::optional<Finding> missing_locale(const Case& facts) {
  if (facts.path().find("/locale") == std::string::npos) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "missing-locale";
  finding.cause = "the locale that the environment asks for (LANG, LC_ALL) is not installed";
  finding.looked_at.push_back("missing: " + facts.path());
  finding.remedy = "LC_ALL=C.UTF-8, or install the locale (dpkg-reconfigure locales)";
  const std::string words = without_quoted_source(facts.messages);  // import locale
  const std::string line = line_with(words, "locale");
  const bool is_of_program = line.starts_with("locale") && !contains(line, "ocale setting");  // localedef: …
  finding.is_said = !line.empty() && !contains(line, "arning") && !is_of_program;
  // Python's words; since 3.13 it looks for many files between the failure and them.
  const bool is_certain = finding.is_said && contains(words, "unsupported locale setting");
  finding.weight = is_certain ? 90 : finding.is_said ? 70 : -20;
  return finding;
}

std::optional<Finding> missing_file(const Case& facts) {
  if (facts.path().empty() || is_terminal_description(facts.path()) || names_no_file(facts)) {
    return std::nullopt;
  }
  if (line_with(facts.messages, base_name(facts.path()) + ": not found").size() > 1 ||
      line_with(facts.messages, base_name(facts.path()) + ": command not found").size() > 1) {
    return std::nullopt;  // a command, for which a rule in exec.cpp applies
  }
  if (was_looked_for_in_path(facts.process, base_name(facts.path())) && !contains(facts.messages, facts.path())) {
    return std::nullopt;  // the same
  }
  const bool is_library = is_library_name(facts.path());
  if (is_library &&
      (facts.messages.find(".so") == std::string::npos || facts.messages.find("shared object") != std::string::npos ||
       facts.messages.find("ELF class") != std::string::npos)) {
    return std::nullopt;  // the rules of the loader apply
  }
  const auto& steps = facts.process.steps;
  const bool was_refused = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && step.order < facts.step->order &&
           step.order >= facts.process.last_exec && step.path == facts.path() &&
           is_listed(step.call.error, "EACCES EPERM EROFS ENOSPC EDQUOT EMFILE ENFILE");
  });
  if (was_refused) {
    return std::nullopt;  // it is missing because it could not be created
  }
  const Walk walk = facts.prober.walk(facts.path());
  Finding finding;
  if (walk.exists() && !says_error(facts.call().error, facts.messages)) {
    return std::nullopt;  // it was made afterwards, as was meant
  }
  if (walk.exists()) {
    finding.cause = facts.path() + " did not exist when it was opened (it does now)";
    finding.remedy = "start it again; if it fails now and then, something makes the file too late";
    return finding;
  }
  const bool directory_missing = walk.stopped != facts.path() && base_name(walk.stopped) != base_name(facts.path());
  const bool is_directory = is_listed(facts.call().name, "chdir chroot") || facts.path().back() == '/';
  const std::string what = is_directory ? "the directory " : "";
  finding.cause = directory_missing ? "the directory " + walk.stopped + " does not exist (wanted: " + facts.path() + ")"
                                    : "a file is missing: " + what + facts.path() + " does not exist";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  const ValueSource source = source_of_path(facts.prober, facts.path(), walk.stopped);
  if (facts.path().back() == '\r') {
    finding.rule = "dos-line-ends";
    finding.cause += "; its name ends with a carriage return, so that whatever names it has DOS line ends";
    finding.remedy = "sed -i 's/\\r$//' on the script or the list that names it";
    return finding;
  }
  constexpr std::size_t least_name = 3;  // any shorter names are alike
  const std::vector<std::string> similar =
      base_name(walk.stopped).size() < least_name
          ? std::vector<std::string>()
          : facts.prober.similar(directory_of(walk.stopped), base_name(walk.stopped));
  if (!similar.empty()) {
    finding.looked_at.push_back(directory_of(walk.stopped) + " holds " + printable(join(similar, ", ")));
    const std::string there = shell_word(printable(directory_of(walk.stopped) + '/' + similar.front()));
    const bool sample = similar.front().size() > base_name(walk.stopped).size() &&
                        similar.front().compare(0, base_name(walk.stopped).size(), base_name(walk.stopped)) == 0;
    finding.remedy = sample && !directory_missing ? "cp " + there + ' ' + shell_word(walk.stopped)
                     : directory_missing ? "mkdir -p " + shell_word(walk.stopped) + ", or is " + there + " meant?"
                                         : "make " + shell_word(facts.path()) + ", or is " + there + " meant?";
  } else {
    finding.remedy = directory_missing ? "mkdir -p " + shell_word(directory_of(facts.path()))
                                       : "make " + shell_word(facts.path()) + ", or give the program its path";
    finding.remedy += directory_missing && source.name.empty() ? ", or correct the path" : "";
  }
  name_source(finding, source);
  return finding;
}

/// Returns a remedy that grants the process a permission ('r', 'w' or 'x') on a file or directory. It does not suggest
/// to open a file to all if its owner grants others nothing.
std::string permission_remedy(const Case& facts, const struct stat& info, const std::string& path, char right) {
  const std::string owner = user_name(info.st_uid);
  constexpr mode_t others = S_IRWXO;
  const auto user = facts.snapshot() ? facts.snapshot()->id("Uid", 3) : std::nullopt;
  constexpr std::array<std::string_view, 10> of_system = {"/proc/", "/sys/", "/dev/",  "/etc/",  "/usr/",
                                                          "/bin/",  "/lib",  "/sbin/", "/boot/", "/var/"};
  if (std::any_of(of_system.begin(), of_system.end(), [&](std::string_view part) { return path.starts_with(part); })) {
    return "run it as " + owner;  // the rights of the system's files have their reasons
  }
  if (user && *user != info.st_uid && ((info.st_mode & others) == 0 || right == 'w')) {
    return "run it as " + owner + ", or let that user in: setfacl -m u:" + user_name(static_cast<unsigned>(*user)) +
           ':' + right + ' ' + shell_word(printable(path));
  }
  return "chmod " + std::string(user && *user == info.st_uid ? "u" : "o") + '+' + right + ' ' +
         shell_word(printable(path)) + ", or chown it, or run as " + owner;
}

std::optional<Finding> file_permission(const Case& facts) {
  if (facts.path().empty()) {
    return std::nullopt;
  }
  const Walk walk = facts.prober.walk(facts.path());
  Finding finding;
  if (const Component* closed = facts.prober.unsearchable_directory(walk); closed != nullptr) {
    finding.cause = facts.prober.user() + " may not enter the directory " + closed->path + " (" +
                    Prober::describe(closed->info) + "), on the way to " + facts.path();
    finding.remedy = permission_remedy(facts, closed->info, closed->path, 'x');
    return finding;
  }
  const Call& call = facts.call();
  const std::string flags = to_text(call.argument("flags").value);
  const bool writes = flags.find("O_WRONLY") != std::string::npos || flags.find("O_RDWR") != std::string::npos ||
                      is_listed(call.name, "creat truncate truncate64 setxattr lsetxattr");
  const bool changes_directory = is_listed(
      call.name,
      "mkdir mkdirat unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat mknod mknodat rmdir bind");
  if ((!walk.exists() && walk.error == ENOENT) || changes_directory) {
    const Walk directory = facts.prober.walk(directory_of(facts.path()));
    if (directory.exists() && !facts.prober.may(directory.info(), Access::write)) {
      finding.cause = facts.prober.user() + " may not write to the directory " + directory.real + " (" +
                      Prober::describe(directory.info()) + "), to make or change " + base_name(facts.path());
      finding.remedy = "chown or chmod " + shell_word(printable(directory.real)) + ", or run as " +
                       user_name(directory.info().st_uid);
      return finding;
    }
  }
  if (!walk.exists() && facts.snapshot()) {
    return std::nullopt;
  }
  if (!facts.snapshot()) {
    finding.cause = "it was not allowed to " + std::string(writes ? "write " : "read ") + facts.path();
    finding.looked_at.push_back(facts.prober.describe_path(walk));
    finding.remedy = "compare the user that it ran as with ls -l " + shell_word(facts.path());
    return finding;
  }
  const std::string asked = to_text(call.argument("mode").value);  // of access(2)
  const bool is_access = call.name.starts_with("access") || call.name.starts_with("faccessat");
  const bool runs = is_access && contains(asked, "X_OK");
  const bool writes_it = writes || (is_access && contains(asked, "W_OK"));
  const Access wanted = runs ? Access::execute : writes_it ? Access::write : Access::read;
  if (facts.prober.may(walk.info(), wanted)) {
    return std::nullopt;
  }
  if (runs && S_ISREG(walk.info().st_mode)) {
    finding.rule = "not-executable";
    finding.cause =
        facts.path() + " is not executable for " + facts.prober.user() + " (" + Prober::describe(walk.info()) + ")";
    finding.remedy = "chmod +x " + shell_word(facts.path());
    return finding;
  }
  finding.cause = facts.prober.user() + " may not " +
                  (runs        ? "enter"
                   : writes_it ? "write"
                               : "read") +
                  ' ' + facts.path() + " (" + Prober::describe(walk.info()) + ")";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  finding.remedy = permission_remedy(facts, walk.info(), facts.path(), runs ? 'x' : writes_it ? 'w' : 'r');
  return finding;
}

std::optional<Finding> read_only(const Case& facts) {
  const Prober::Mount mount =
      facts.prober.mount(facts.prober.exists(facts.path()) ? facts.path() : directory_of(facts.path()));
  Finding finding;
  finding.cause = facts.path() + " cannot be written: its file system is mounted read-only" +
                  (mount.point.empty() ? "" : " (" + mount.point + ")");
  finding.remedy = "mount -o remount,rw " + (mount.point.empty() ? "it" : shell_word(mount.point)) +
                   ", or write elsewhere; if it became so by itself, see dmesg for disk errors";
  return finding;
}

std::optional<Finding> disk_full(const Case& facts) {
  const bool quota = facts.call().error == "EDQUOT";
  const std::string place = facts.prober.exists(facts.path()) ? facts.path() : directory_of(facts.path());
  const Prober::Mount mount = facts.prober.mount(place);
  Finding finding;
  if (const Walk walk = facts.prober.walk(facts.path()); walk.exists() && S_ISCHR(walk.info().st_mode)) {
    finding.cause = "the device " + facts.path() + " takes no more";
    finding.looked_at.push_back(facts.prober.describe_path(walk));
    finding.remedy = "name a file, or another device (/dev/full never takes anything)";
    return finding;
  }
  finding.cause =
      quota ? "the disk quota of " + facts.prober.user() + " is used up, for " + facts.path()
            : "the file system" +
                  (!mount.point.empty() ? ' ' + mount.point
                                        : " of " + (facts.path().empty() ? "what it wrote to" : facts.path())) +
                  " is full";
  struct statvfs room;
  if (::statvfs(facts.prober.tracer_path(place).c_str(), &room) == 0) {
    finding.looked_at.push_back(fmt::format(
        "afterwards {} of {} and {} of {} inodes were free", format_bytes(std::uint64_t{room.f_bavail} * room.f_frsize),
        format_bytes(std::uint64_t{room.f_blocks} * room.f_frsize), room.f_favail, room.f_files));
  }
  finding.remedy = "make room (du -xh " + shell_word(printable(mount.point.empty() ? place : mount.point)) +
                   " | sort -h), or write elsewhere";
  return finding;
}

std::optional<Finding> directory_not_empty(const Case& facts) {
  Finding finding;
  finding.cause = "the directory " + facts.path() + " is not empty";
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  finding.remedy = "ls -A " + shell_word(facts.path()) +
                   " shows what is in it; move it away, or remove it if nothing of it is needed";
  return finding;
}

constexpr std::string_view writing_calls =
    "open openat openat2 creat mkdir mkdirat write writev pwrite64 pwritev fallocate ftruncate ftruncate64 rename "
    "renameat renameat2 link linkat symlink symlinkat mknod mknodat unlink unlinkat rmdir fsync fdatasync sendfile "
    "copy_file_range msync mmap chmod fchmodat chown fchownat utimensat truncate bind";

/// chattr +i and +a apply to root, too.
std::optional<Finding> immutable(const Case& facts) {
  const std::string directory = directory_of(facts.path());
  const std::string what = facts.prober.is_immutable(facts.path()) ? facts.path() : directory;
  if (facts.path().empty() || !facts.prober.is_immutable(what)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = what + " has an attribute that keeps everybody from changing it (immutable or append-only)";
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  finding.remedy = "lsattr -d " + shell_word(what) + " shows it; chattr -i -a " + shell_word(what) + " takes it away";
  return finding;
}

std::optional<Finding> no_repository(const Case& facts) {
  const std::string& directory = facts.process.working_directory;
  Finding finding;
  if (const std::string named = word_after(facts.messages, "fatal: not a git repository: ", "\n"); !named.empty()) {
    finding.cause = printable(named) + " is no git repository" +
                    (facts.prober.exists(named) ? "" : ": it does not exist; .git, or GIT_DIR, names it");
    finding.remedy = "correct what names it (cat .git), or git worktree repair; git init makes a new one";
    return finding;
  }
  finding.cause =
      (directory.empty() ? "its working directory" : "the directory " + directory) + " is in no git repository";
  finding.remedy = "cd to the repository (git -C DIRECTORY), or make one with git init";
  return finding;
}

/// git refuses repositories of other users (safe.directory in git-config(1)).
std::optional<Finding> repository_of_another_user(const Case& facts) {
  const std::string path = word_after(facts.messages, "detected dubious ownership in repository at '", "'\n");
  const Walk walk = facts.prober.walk(path);
  Finding finding;
  finding.cause = "the repository " + path + " belongs to " +
                  (walk.exists() ? user_name(walk.info().st_uid) : std::string("another user")) + ", and git runs as " +
                  facts.prober.user();
  finding.remedy = "run git as its owner; or, if you trust what is in it: git config --global --add safe.directory " +
                   shell_word(printable(path));
  return finding;
}

constexpr std::string_view mounting_calls = "fsconfig open_tree open_tree_attr fspick move_mount";

constexpr Rule files_table[] = {
    {"immutable-file", 35, writing_calls, "EPERM EACCES", "", "", immutable},
    {"repository-of-another-user", 60, "", "", "detected dubious ownership in repository", "",
     repository_of_another_user},
    {"no-repository", 60, "", "", "fatal: not a git repository", "", no_repository},
    {"working-folder-deleted", 40, "getcwd", "ENOENT", "", "", directory_deleted},
    {"wrong-working-folder", 12, file_calls, "ENOENT", "", "", wrong_directory},
    {"dangling-link", 15, file_calls, "ENOENT", "", "", bad_link},
    {"dangling-link", 20, "execve execveat", "ENOENT", "", "", bad_link},
    {"link-loop", 35, file_calls, "ELOOP", "", "", link_loop},
    {"link-loop", 35, "execve execveat", "ELOOP", "", "", link_loop},
    {"file-as-folder", 25, file_calls, "ENOTDIR", "", "", file_as_directory},
    {"file-as-folder", 25, "execve execveat", "ENOTDIR", "", "", file_as_directory},
    {"folder-as-file", 25, file_calls, "EISDIR", "", "", directory_as_file},
    {"folder-not-empty", 35, "rmdir unlinkat rename renameat renameat2", "ENOTEMPTY", "", "", directory_not_empty},
    {"missing-device", 15, file_calls, "ENOENT ENXIO ENODEV", "", "", missing_device},
    {"nobody-at-other-end", 25, file_calls, "ENXIO", "", "", nobody_at_other_end},
    {"unknown-terminal", 12, file_calls, "ENOENT", "", "", missing_terminal},
    {"missing-locale", 12, file_calls, "ENOENT", "", "", missing_locale},
    {"missing-file", 18, file_calls, "ENOENT", "", "", missing_file},
    {"file-permission", 28, file_calls, "EACCES", "", "", file_permission},
    // What is to be mounted, or where.
    {"dangling-link", 15, mounting_calls, "ENOENT", "", "", bad_link},
    {"missing-device", 15, mounting_calls, "ENOENT ENXIO ENODEV", "", "", missing_device},
    {"missing-file", 18, mounting_calls, "ENOENT", "", "", missing_file},
    // A socket of a path.
    {"missing-file", 30, "bind", "ENOENT", "", "", missing_file},
    {"file-as-folder", 30, "bind", "ENOTDIR", "", "", file_as_directory},
    {"file-permission", 30, "bind", "EACCES", "", "", file_permission},
    {"read-only-file-system", 35, writing_calls, "EROFS", "", "", read_only},
    {"disk-full", 40, writing_calls, "ENOSPC EDQUOT", "", "", disk_full},
};

}  // namespace

std::span<const Rule> file_rules() {
  return files_table;
}

}  // namespace tracer::explain::rules
