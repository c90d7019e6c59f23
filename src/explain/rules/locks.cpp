// Locks, and PID files of another instance.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/owners.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

std::optional<Finding> lock_held(const Case& facts) {
  Finding finding;
  finding.cause = (facts.path().empty() ? "a file" : facts.path()) +
                  " is locked already, by another process or by itself through another descriptor";
  const Walk walk = facts.prober.walk(facts.path());
  std::vector<std::string> names;
  if (walk.exists()) {
    for (const pid_t pid : lock_holders(walk.info().st_dev, walk.info().st_ino)) {
      if (pid > 0) {
        names.push_back(describe_process(pid));
      }
    }
  }
  if (!names.empty()) {
    finding.cause = facts.path() + " is locked by " + join(names, ", ");
    finding.looked_at.push_back("/proc/locks: " + join(names, ", ") + " holds the lock");
    finding.remedy = "it is probably running already: stop " + names.front() + " first";
  } else {
    finding.remedy =
        "see whether it runs already: fuser " + shell_word(facts.path()) + " shows who has the lock file open";
  }
  return finding;
}

/// A PID file and the process that it names.
struct PidFile {
  enum class Holder : std::uint8_t { none, gone, younger, runs };
  Holder holder = Holder::none;  ///< younger: the ID belongs to a process that started after the file was written
  pid_t pid = 0;
};

PidFile read_pid_file(const Prober& prober, const std::string& path) {
  const std::string place = prober.tracer_path(path);
  PidFile result;
  struct stat info;
  if (::stat(place.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return result;
  }
  result.pid = static_cast<pid_t>(std::atoi(read_file(place, 32).c_str()));
  if (result.pid <= 0) {
    return result;
  }
  constexpr std::int64_t uncertainty = 2;  // seconds: clocks are coarse
  const auto started = start_time_of(result.pid);
  result.holder = !is_alive(result.pid)                                     ? PidFile::Holder::gone
                  : started && *started > info.st_mtim.tv_sec + uncertainty ? PidFile::Holder::younger
                                                                            : PidFile::Holder::runs;
  return result;
}

/// Describes the process that the PID file at `path` names, and the remedy. Changes nothing if it names none.
void judge_pid_file(Finding& finding, const std::string& path, const PidFile& file) {
  const std::string number = std::to_string(file.pid);
  switch (file.holder) {
    case PidFile::Holder::none:
      break;
    case PidFile::Holder::gone:
      finding.cause = path + " was left behind: it names process " + number + ", which is gone";
      finding.remedy = "rm " + shell_word(path);
      break;
    case PidFile::Holder::younger:
      finding.cause = path + " was left behind: the process " + number + " that it names is gone, and " +
                      describe_process(file.pid) + " has its number now";
      finding.looked_at.push_back(describe_process(file.pid) + " began after the file was written");
      finding.remedy = "rm " + shell_word(path);
      break;
    case PidFile::Holder::runs:
      finding.cause = "another instance seems to run: " + path + " exists and names " + describe_process(file.pid);
      finding.remedy = "stop process " + number + " first";
      break;
  }
}

std::optional<Finding> lock_file_exists(const Case& facts) {
  if (facts.path().empty() || (facts.call().name.compare(0, 4, "open") == 0 &&
                               to_text(facts.call().argument("flags").value).find("O_EXCL") == std::string::npos)) {
    return std::nullopt;
  }
  constexpr std::array<std::string_view, 6> complaints = {"xist", "lock", "already", "running", "in use", "busy"};
  const bool complains = std::any_of(complaints.begin(), complaints.end(),
                                     [&](std::string_view word) { return contains(facts.messages, word); });
  const bool makes_directory = facts.call().name.starts_with("mkdir");
  if (makes_directory ? !contains(facts.messages, "xists") : !facts.messages.empty() && !complains) {
    return std::nullopt;  // what exists is as welcome, as for mkdir -p
  }
  Finding finding;
  const Walk walk = facts.prober.walk(facts.path());
  finding.cause = facts.path() + " exists already";
  const std::string name = base_name(facts.path());
  const bool may_be_lock = contains(name, "lock") || contains(name, "LOCK") || name.ends_with(".pid");
  finding.remedy = may_be_lock && walk.exists()
                       ? "if nothing uses it (fuser " + shell_word(facts.path()) +
                             "), it was left behind: " + (S_ISDIR(walk.info().st_mode) ? "rmdir " : "rm ") +
                             shell_word(facts.path())
                       : "choose another name than " + facts.path() + ", or see whether it is what is wanted already";
  judge_pid_file(finding, facts.path(), read_pid_file(facts.prober, facts.path()));
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  return finding;
}

/// The process checked with kill(pid, 0) whether the process in a PID file is alive, and exited soon after.
std::optional<Finding> already_running(const Case& facts) {
  constexpr std::uint64_t soon = 12;  // traced calls between the check and the exit
  const Process& process = facts.process;
  const auto asked = std::find_if(process.steps.rbegin(), process.steps.rend(), [&](const Step& step) {
    return step.order >= process.last_exec && step.call.name == "kill" &&
           (step.call.outcome == CallOutcome::returned || step.call.failed_with("EPERM")) &&
           to_text(step.call.argument("signum").value) == "0";
  });
  if (asked == process.steps.rend() || process.calls - asked->number > soon) {
    return std::nullopt;
  }
  const auto pid = static_cast<pid_t>(asked->call.argument("pid").value.number);
  PidFile file;
  const auto find_in = [&](const Process& reader) {
    const auto at = std::find_if(reader.opened.rbegin(), reader.opened.rend(), [&](const Opened& one) {
      file = one.order < asked->order ? read_pid_file(facts.prober, one.path) : PidFile();
      return file.pid == pid && pid > 0;
    });
    return at == reader.opened.rend() ? nullptr : &*at;
  };
  const Opened* opened = find_in(process);
  for (const auto& [child, reader] : facts.story.processes()) {
    opened = opened == nullptr && reader.parent == process.pid ? find_in(reader) : opened;  // $(cat PIDFILE)
  }
  if (opened == nullptr) {
    return std::nullopt;
  }
  Finding finding;
  judge_pid_file(finding, opened->path, file);
  finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(opened->path)));
  finding.evidence.push_back(&*asked);
  return finding;
}

constexpr std::string_view making_calls =
    "open openat openat2 mkdir mkdirat link linkat symlink symlinkat mknod mknodat rename renameat "
    "renameat2";

constexpr Rule locks_table[] = {
    {"lock-held", 40, "flock fcntl fcntl64", "EAGAIN EWOULDBLOCK EACCES EINTR ERESTARTSYS", "", "", lock_held},
    {"lock-file-exists", 25, making_calls, "EEXIST", "", "", lock_file_exists},
    {"already-running", 30, "kill", "EPERM", "", "", already_running},
    {"already-running", 30, "", "", "already running|is running|already started|another instance", "", already_running},
    {"already-running", 25, "", "", "", "exit", already_running},
};

}  // namespace

std::span<const Rule> lock_rules() {
  return locks_table;
}

}  // namespace tracer::explain::rules
