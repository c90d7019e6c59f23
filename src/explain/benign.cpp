#include "explain/benign.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "explain/prober.h"
#include "explain/rule.h"

namespace tracer::explain {

namespace {

struct Optional {
  std::string_view part;  ///< part of the path
  std::string_view reason;
};

// Files that programs look for but do not need.
constexpr std::array<Optional, 37> optional_files = {{
    {"/.git/refs/", "references of git, which may be packed (optional)"},
    {".gch", "precompiled headers (optional)"},
    {"/dev/log", "the system log (optional)"},
    {"/usr/share/X11/", "data of X programs (optional)"},
    {"/hsperfdata_", "figures for tools of Java (optional)"},
    {"/dev/tty", "the controlling terminal (optional)"},
    {"/etc/ld.so.preload", "files of the loader (optional)"},
    {"/ld.so.nohwcap", "files of the loader (optional)"},
    {"glibc-hwcaps", "files of the loader (optional)"},
    {"/locale/", "locale files (optional)"},
    {"/locale-archive", "locale files (optional)"},
    {"/locale.alias", "locale files (optional)"},
    {"LC_MESSAGES", "locale files (optional)"},
    {"/gconv", "locale files (optional)"},
    {"/charset.alias", "locale files (optional)"},
    {"/terminfo/", "terminal descriptions (optional)"},
    {"/.terminfo", "terminal descriptions (optional)"},
    {"/nscd/socket", "the name service cache (optional)"},
    {"/userdb", "records of users that systemd would keep (optional)"},
    {"/run/systemd/userdb", "records of users that systemd would keep (optional)"},
    {"/etc/gai.conf", "files of the name service (optional)"},
    {"/etc/host.conf", "files of the name service (optional)"},
    {"/etc/nsswitch.conf", "files of the name service (optional)"},
    {"/selinux", "security modules that are not there (optional)"},
    {"/etc/localtime", "the time zone (optional)"},
    {"/zoneinfo", "the time zone (optional)"},
    {"/pyvenv.cfg", "Python's search for its modules (optional)"},
    {"/site-packages", "Python's search for its modules (optional)"},
    {"/__pycache__", "Python's search for its modules (optional)"},
    {"._pth", "Python's search for its modules (optional)"},
    {"/Modules/Setup.local", "Python's search for its modules (optional)"},
    {"/pybuilddir.txt", "Python's search for its modules (optional)"},
    {"/.config/", "a user's settings (optional)"},
    {"/etc/default/su", "settings of su (optional)"},
    {"/etc/inputrc", "a user's settings (optional)"},
    {"/sys/kernel/mm", "settings of the kernel (optional)"},
    {"/sys/fs/", "settings of the kernel (optional)"},
}};

/// True if the same file name was opened later, in the same or another directory.
bool found_later(const Process& process, const Step& step) {
  const std::string name = base_name(step.path);
  return std::any_of(process.opened.begin(), process.opened.end(),
                     [&](const Opened& opened) { return opened.order > step.order && base_name(opened.path) == name; });
}

/// True if a later call of that name, or a later execve, succeeded.
bool succeeded_later(const Process& process, const Step& step) {
  return std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& other) {
    if (other.order <= step.order) {
      return false;
    }
    if (other.kind == Step::Kind::exec) {
      return is_listed(step.call.name, "execve execveat");
    }
    if (other.kind != Step::Kind::other || other.call.name != step.call.name) {
      return false;
    }
    return is_listed(step.call.name, "connect bind") && other.call.descriptor("sockfd") >= 0 &&
           !(to_text(other.call, false).find(":53)") != std::string::npos);
  });
}

/// True for a stat with which the dynamic loader checks a directory after it has found no library there.
bool is_library_directory(const Process& process, const Step& step) {
  return std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& other) {
    return other.order < step.order && other.kind == Step::Kind::failure && other.path.size() > step.path.size() &&
           other.path.starts_with(step.path) && other.path[step.path.size()] == '/' &&
           other.path.find('/', step.path.size() + 1) == std::string::npos && is_library_name(other.path);
  });
}

/// True for another name for a file that was opened: `a.zip.ZIP` after `a.zip`.
bool is_variant_of_opened(const Process& process, const Step& step) {
  return std::any_of(process.opened.begin(), process.opened.end(), [&](const Opened& opened) {
    return opened.order >= process.last_exec && step.path.size() > opened.path.size() &&
           step.path.starts_with(opened.path) && step.path[opened.path.size()] == '.';
  });
}

/// True for `.curlrc`, `.npmrc`, …
bool is_user_settings(const std::string& path) {
  const std::string name = base_name(path);
  return name.size() > 3 && name.front() == '.' && name.compare(name.size() - 2, 2, "rc") == 0;
}

/// Returns the reason for files that interpreters look for in search of modules; empty for other files. If a module is
/// missing, the interpreter prints a message.
std::string_view module_search(const Process& process, const Step& step) {
  // The interpreter of a script has the script's name.
  const std::string name = process.name();
  if (contains(step.path, "/lib/python") || contains(step.path, "/dist-packages")) {
    return "Python's search for its modules (optional)";
  }
  const bool of_node = step.path.find("node_modules") != std::string::npos ||
                       step.path.find("/.node_") != std::string::npos || step.path.ends_with("/lib/node") ||
                       step.path.ends_with("/package.json");
  if (name == "node" && of_node) {
    return "Node.js's search for its modules (optional)";
  }
  const bool of_perl = step.path.find("/perl") != std::string::npos || step.path.find("_perl") != std::string::npos;
  const bool is_installed = step.path.starts_with("/usr/") || step.path.starts_with("/etc/");
  return of_perl && (name.starts_with("perl") || is_installed) ? "Perl's search for its modules (optional)" : "";
}

}  // namespace

std::string benign_reason(const Process& process, const Step& step) {
  if (is_listed(step.call.name, "rt_sigaction") || step.call.error == "EINPROGRESS") {
    return "connections that were still being made";
  }
  if (step.call.error == "ENOENT" || step.call.error == "ENOTDIR" || step.call.error == "ECONNREFUSED" ||
      step.call.error == "ENXIO" || step.call.error == "EACCES" || step.call.error == "EAGAIN") {
    const auto* at = std::find_if(optional_files.begin(), optional_files.end(),
                                  [&](const Optional& file) { return step.path.find(file.part) != std::string::npos; });
    if (at != optional_files.end() && step.call.error != "EACCES") {
      return std::string(at->reason);
    }
  }
  if (step.call.error == "ENOENT" && is_user_settings(step.path)) {
    return "a user's settings (optional)";
  }
  if (step.call.error == "ENOENT" && is_listed(step.call.name, "stat newfstatat stat64 fstatat64") &&
      is_library_directory(process, step)) {
    return "files of the loader (optional)";
  }
  if (step.call.error == "ENOENT" && is_variant_of_opened(process, step)) {
    return "files that were found elsewhere, or later";
  }
  if (const auto search = module_search(process, step); step.call.error == "ENOENT" && !search.empty()) {
    return std::string(search);
  }
  if (!step.path.empty() && found_later(process, step)) {
    return is_library_name(step.path) ? "lookups of libraries (each found elsewhere)"
                                      : "files that were found elsewhere, or later";
  }
  if (step.call.error == "ENOENT" && is_listed(step.call.name, "execve execveat stat newfstatat access") &&
      succeeded_later(process, step)) {
    return "directories of PATH (the program was found in another)";
  }
  if (!process.programs.empty() && step.path != process.executable() && base_name(step.path) == process.name() &&
      is_listed(step.call.name, "stat lstat newfstatat statx access faccessat2 readlink readlinkat execve")) {
    return "directories of PATH (the program was found in another)";
  }
  if (succeeded_later(process, step)) {
    return step.call.name + " calls (a later one succeeded)";
  }
  return {};
}

std::vector<std::string> ruled_out(const Process& process) {
  std::map<std::string, unsigned> counts;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::failure) {
      if (const std::string reason = benign_reason(process, step); !reason.empty()) {
        ++counts[reason];
      }
    }
  }
  std::vector<std::string> lines;
  lines.reserve(counts.size() + 1);
  for (const auto& [reason, count] : counts) {
    lines.push_back(fmt::format("{} failed: {}", count, reason));
  }
  if (process.messages().find("cannot be preloaded") != std::string::npos) {
    lines.emplace_back("the library of LD_PRELOAD that cannot be loaded: the loader ignores it, and the program runs");
  }
  return lines;
}

}  // namespace tracer::explain
