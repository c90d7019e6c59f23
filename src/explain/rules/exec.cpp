// Programs that cannot be executed.
#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/file_header.h"
#include "explain/owners.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

/// Returns the directories in which a command was looked for, from the attempts to execute it.
std::vector<std::string> program_directories_tried(const Process& process, const std::string& name) {
  std::vector<std::string> directories;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::failure && step.order >= process.last_exec && base_name(step.path) == name &&
        is_listed(step.call.name, "execve newfstatat stat access faccessat2 faccessat")) {
      const std::string directory = directory_of(step.path);
      if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
        directories.push_back(directory);
      }
    }
  }
  return directories;
}

/// `#!/usr/bin/env python3` with Windows line endings makes env look for "python3\r".
Finding trailing_carriage_return(const Case& facts, const std::string& name) {
  Finding finding;
  const auto& programs = facts.process.programs;
  const std::string script = programs.empty() ? std::string() : printable(programs.back().path);
  const bool is_script = !script.empty() && base_name(script) != "env" && base_name(script) != "busybox";
  finding.rule = "script-with-carriage-returns";
  finding.cause = (is_script ? script + " has" : "the script has") +
                  " Windows line ends: its first line asks for the command \"" + printable(name) +
                  "\", with a carriage return at its end";
  finding.remedy = "sed -i 's/\\r$//' " + (is_script ? shell_word(script) : "SCRIPT");
  return finding;
}

Finding command_not_found(const Case& facts, const std::string& name) {
  Finding finding;
  if (!name.empty() && name.back() == '\r') {
    return trailing_carriage_return(facts, name);
  }
  const auto words = facts.process.words();
  if (words.size() > 1 && words[1] == name && is_listed(facts.process.name(), "ksh ksh93 mksh bash zsh yash dash sh")) {
    finding.rule = "missing-file";
    finding.cause = "the script " + printable(name) + " does not exist: it is neither in " +
                    facts.process.working_directory + " nor in a directory of PATH";
    finding.remedy = "correct its name, or give its path";
    return finding;
  }
  finding.rule = "command-not-found";
  finding.cause = "the command " + name + " is in none of the directories of PATH";
  const std::vector<std::string> tried = program_directories_tried(facts.process, name);
  if (!tried.empty()) {
    finding.looked_at.push_back(name + " is in none of " + join(tried, ", "));
  }
  for (const char* directory :
       {"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/bin"}) {
    if (facts.prober.exists(std::string(directory) + '/' + name)) {
      finding.looked_at.push_back(std::string(directory) + '/' + name + " exists");
      finding.remedy = "add " + std::string(directory) + " to PATH";
      return finding;
    }
  }
  finding.remedy = "install " + name + ", or add its directory to PATH";
  return finding;
}

Finding missing_interpreter(const Case& facts, const FileHeader& header) {
  Finding finding;
  const Walk walk = facts.prober.walk(header.interpreter);
  if (header.kind == FileHeader::Kind::script) {
    if (header.carriage_return) {
      finding.rule = "script-with-carriage-returns";
      finding.cause = facts.path() + " has Windows line ends: its first line names the interpreter \"" +
                      printable(header.interpreter) + "\", which does not exist";
      finding.remedy = "sed -i 's/\\r$//' " + shell_word(facts.path());
      return finding;
    }
    finding.rule = "script-interpreter-missing";
    finding.cause = "the interpreter of the script " + facts.path() + " is missing: " + printable(header.interpreter) +
                    " does not exist";
    finding.remedy = "install " + base_name(header.interpreter) + ", or correct the first line of " + facts.path();
  } else {
    finding.rule = "elf-interpreter-missing";
    finding.cause = "the program interpreter (dynamic loader) that " + facts.path() +
                    " asks for is missing: " + header.interpreter + " does not exist";
    const bool musl = header.interpreter.find("musl") != std::string::npos;
    finding.remedy = musl ? "install musl (the program was built for the musl C library), or get a build for glibc"
                     : header.bits == 32
                         ? "install the 32-bit C library (Debian: libc6:i386), or get a 64-bit build"
                         : "install the C library that it was built for, or get a build for this system";
  }
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  return finding;
}

std::optional<Finding> exec_missing(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  if (walk.exists()) {
    FileHeader header = read_header(facts.prober.tracer_path(walk.real));
    constexpr int max_interpreters = 5;  // as many as execve(2) follows
    for (int i = 0; i < max_interpreters && header.kind == FileHeader::Kind::script; ++i) {
      const Walk interpreter = facts.prober.walk(header.interpreter);
      if (!interpreter.exists()) {
        break;
      }
      header = read_header(facts.prober.tracer_path(interpreter.real));  // it may be a script, too
    }
    if (header.interpreter.empty() || facts.prober.exists(header.interpreter)) {
      return std::nullopt;
    }
    Finding finding = missing_interpreter(facts, header);
    finding.weight = 30;
    return finding;
  }
  const std::string name = base_name(facts.path());
  constexpr int not_found = 127;
  const bool is_only_one = is_named(name, facts.messages) && !contains(facts.messages, '/' + name) &&
                           facts.process.exit && !facts.process.exit->by_signal &&
                           facts.process.exit->status == not_found;  // PATH has one directory
  if (program_directories_tried(facts.process, name).size() > 1 || is_only_one) {
    return command_not_found(facts, name);
  }
  if (!walk.dangling.empty()) {
    return std::nullopt;  // the rule for symbolic links applies
  }
  Finding finding;
  finding.cause = "the program " + facts.path() + " does not exist";
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  const std::vector<std::string> similar = facts.prober.similar(directory_of(walk.stopped), base_name(walk.stopped));
  if (!similar.empty()) {
    finding.looked_at.push_back(directory_of(walk.stopped) + " holds " + join(similar, ", "));
  }
  finding.remedy = similar.empty() ? "correct the name, or install the program"
                                   : "use " + directory_of(walk.stopped) + '/' + similar.front() + " if that is meant";
  return finding;
}

std::optional<Finding> shell_found_nothing(const Case& facts) {
  std::string line = line_with(facts.messages, "command not found");
  std::string name = word_before(line, ": command not found");
  if (line.empty()) {
    line = line_with(facts.messages, ": not found");
    name = word_before(line, ": not found");
  }
  if (line.empty()) {
    line = line_with(facts.messages, "Unknown command: ");  // fish
    name = word_after(line, "Unknown command: ", "\n");
  }
  if (line.empty()) {
    line = line_with(facts.messages, "‘");  // env: ‘x’: No such file or directory
    name = word_after(line, "‘", "\xe2");
  }
  if (facts.process.name() == "ssh" || !facts.process.exit || facts.process.exit->status != 127 || name.empty() ||
      name.find(' ') != std::string::npos) {
    return std::nullopt;
  }
  const std::string_view escaped = "\\r";
  const bool escaped_return =
      name.size() > escaped.size() && std::string_view(name).substr(name.size() - escaped.size()) == escaped;
  if (name.find('/') != std::string::npos || escaped_return) {
    return std::nullopt;  // the rule for the failed execve applies
  }
  return command_not_found(facts, printable(name));
}

std::optional<Finding> exec_refused(const Case& facts) {
  const Walk walk = facts.prober.walk(facts.path());
  Finding finding;
  if (const Component* closed = facts.prober.unsearchable_directory(walk); closed != nullptr) {
    finding.rule = "folder-not-enterable";
    finding.cause = facts.path() + " cannot be executed: " + facts.prober.user() + " may not enter the directory " +
                    closed->path + " (" + Prober::describe(closed->info) + ")";
    finding.remedy = "chmod o+x " + shell_word(closed->path) + " (or give the directory to the right user or group)";
    return finding;
  }
  if (!walk.exists()) {
    return std::nullopt;
  }
  finding.looked_at.push_back(facts.prober.describe_path(walk));
  if (S_ISDIR(walk.info().st_mode)) {
    finding.rule = "exec-of-a-folder";
    finding.cause = facts.path() + " is a directory, not a program";
    finding.remedy = "name the program in it";
  } else if (!S_ISREG(walk.info().st_mode)) {
    finding.rule = "not-a-regular-file";
    finding.cause = facts.path() + " is no regular file and cannot be executed";
    finding.remedy = "name a program";
  } else if (!facts.prober.may(walk.info(), Access::execute)) {
    finding.rule = "not-executable";
    finding.cause =
        facts.path() + " is not executable for " + facts.prober.user() + " (" + Prober::describe(walk.info()) + ")";
    finding.remedy = "chmod +x " + shell_word(facts.path());
  } else if (const Prober::Mount mount = facts.prober.mount(facts.path()); mount.no_execute) {
    finding.rule = "noexec-mount";
    finding.cause = facts.path() + " is on a file system that is mounted with noexec (" + mount.point + ")";
    finding.remedy = "mount -o remount,exec " + shell_word(mount.point) + ", or put the program elsewhere";
  } else {
    const FileHeader header = read_header(facts.prober.tracer_path(walk.real));
    if (header.interpreter.empty()) {
      return std::nullopt;
    }
    const Walk interpreter = facts.prober.walk(header.interpreter);
    if (interpreter.exists() && S_ISDIR(interpreter.info().st_mode)) {
      finding.rule = "interpreter-not-executable";
      finding.cause = "the interpreter of " + facts.path() + ", " + header.interpreter + ", is a directory";
      finding.remedy = "name a program in the first line of " + facts.path();
      return finding;
    }
    if (!interpreter.exists() || facts.prober.may(interpreter.info(), Access::execute)) {
      return std::nullopt;
    }
    finding.rule = "interpreter-not-executable";
    finding.cause = "the interpreter of " + facts.path() + ", " + header.interpreter + ", is not executable (" +
                    Prober::describe(interpreter.info()) + ")";
    finding.remedy = "chmod +x " + shell_word(header.interpreter);
  }
  return finding;
}

/// True if the kernel does not see the end of the interpreter line (execve(2)).
bool has_cut_first_line(const std::string& path) {
  constexpr std::size_t seen_by_kernel = 256;
  const std::string start = read_file(path, seen_by_kernel);
  return start.size() == seen_by_kernel && start.find('\n') == std::string::npos;
}

std::optional<Finding> format_of(const Case& facts, const std::string& path) {
  const FileHeader header = read_header(facts.prober.tracer_path(path));
  const unsigned native = native_machine();
  const bool runs_here = header.machine == native || (native == EM_X86_64 && header.machine == EM_386) ||
                         (native == EM_AARCH64 && header.machine == EM_ARM);
  Finding finding;
  if (header.kind == FileHeader::Kind::empty) {
    finding.rule = "empty-program";
    finding.cause = path + " is an empty file";
    finding.remedy = "install or build the program again: " + path;
  } else if (header.kind == FileHeader::Kind::elf && !runs_here) {
    finding.rule = "wrong-machine";
    finding.cause = path + " was built for another processor: " + machine_name(header.machine) +
                    ", and this machine is " + machine_name(native);
    finding.remedy = "get a build for " + machine_name(native) + ", or an emulator (Debian: qemu-user-binfmt)";
  } else if (header.kind == FileHeader::Kind::elf && header.truncated) {
    finding.rule = "truncated-program";
    finding.cause = path + " is damaged: the file is shorter than its header says";
    finding.remedy = "copy, download or build it again";
  } else if (header.kind == FileHeader::Kind::elf) {
    finding.rule = "elf-unsupported";
    finding.cause =
        fmt::format("the kernel does not run {} ({}-bit {})", path, header.bits, machine_name(header.machine));
    finding.remedy = "get a build for " + machine_name(native);
  } else if (header.kind == FileHeader::Kind::other) {
    finding.rule = "no-interpreter-line";
    finding.cause = path + " is neither an ELF program nor a script with an interpreter line (#!)";
    finding.remedy = "if it is a shell script, make its first line #!/bin/sh";
  } else if (header.kind == FileHeader::Kind::script && has_cut_first_line(facts.prober.tracer_path(path))) {
    finding.rule = "interpreter-line-too-long";
    finding.cause = "the first line of the script " + path + " is too long: the kernel reads 256 bytes of it";
    finding.remedy = "shorten the path of the interpreter, by a link to it, or use #!/usr/bin/env NAME";
  } else {
    return std::nullopt;
  }
  return finding;
}

std::optional<Finding> wrong_format(const Case& facts) {
  return format_of(facts, facts.path());
}

/// Shells, and execvp(3), give a file that the kernel does not run to /bin/sh, which takes it for a script.
std::optional<Finding> taken_for_script(const Case& facts) {
  const auto& steps = facts.process.steps;
  const auto refused = std::find_if(steps.rbegin(), steps.rend(), [](const Step& step) {
    return step.kind == Step::Kind::failure && step.call.failed_with("ENOEXEC") && step.call.name.starts_with("execve");
  });
  const auto kind =
      refused == steps.rend() ? FileHeader::Kind::other : read_header(facts.prober.tracer_path(refused->path)).kind;
  if (kind != FileHeader::Kind::elf && kind != FileHeader::Kind::script) {
    return std::nullopt;
  }
  auto finding = format_of(facts, refused->path);
  if (finding) {
    finding->evidence.push_back(&*refused);
    finding->looked_at.emplace_back("a shell took it for a script");
  }
  return finding;
}

std::optional<Finding> text_busy(const Case& facts) {
  Finding finding;
  finding.cause = facts.path() + " is being written by somebody";
  std::vector<std::string> writers;
  for (const pid_t pid : holders_of(facts.prober.walk(facts.path()).real)) {
    writers.push_back(describe_process(pid));
  }
  if (!writers.empty()) {
    finding.cause = facts.path() + " is open for writing in " + join(writers, ", ");
    finding.looked_at.push_back("/proc/*/fd: " + join(writers, ", ") + " has it open");
  }
  finding.remedy = "wait until the copy or the build is done; replace running programs by renaming, not by writing";
  return finding;
}

std::optional<Finding> too_many_arguments(const Case& facts) {
  Finding finding;
  finding.cause = "the arguments and the environment of " + facts.path() +
                  " together are too long (or one of them is longer than 128 KiB)";
  if (const auto stack = facts.snapshot() ? facts.snapshot()->limit("Max stack size") : std::nullopt) {
    finding.looked_at.push_back("the limit is a quarter of the stack's: " + format_bytes(*stack / 4));
  }
  finding.remedy = "pass the names through a file or xargs; a larger ulimit -s raises the limit";
  return finding;
}

/// A program that looks into PATH itself before it executes anything, as make does.
std::optional<Finding> looked_for_in_path(const Case& facts) {
  const std::string name = base_name(facts.path());
  const bool is_said = is_named(name, facts.messages) && !contains(facts.messages, facts.path());
  return is_said && was_looked_for_in_path(facts.process, name) ? std::optional(command_not_found(facts, name))
                                                                : std::nullopt;
}

constexpr Rule exec_table[] = {
    {"command-not-found", 30, "access faccessat faccessat2 stat newfstatat", "ENOENT", "", "", looked_for_in_path},
    {"program-missing", 25, "execve execveat", "ENOENT", "", "", exec_missing},
    {"command-not-found", 15, "", "", ": not found|command not found|Unknown command: |env: ", "", shell_found_nothing},
    {"exec-refused", 40, "execve execveat", "EACCES", "", "", exec_refused},
    {"wrong-format", 45, "execve execveat", "ENOEXEC EINVAL ELIBBAD", "", "", wrong_format},
    {"wrong-format", 90, "", "", "", "exit", taken_for_script},
    {"program-being-written", 45, "execve execveat", "ETXTBSY", "", "", text_busy},
    {"arguments-too-long", 45, "execve execveat", "E2BIG", "", "", too_many_arguments},
};

}  // namespace

bool was_looked_for_in_path(const Process& process, const std::string& name) {
  const std::string path = ':' + environment_value(process, "PATH") + ':';
  const std::vector<std::string> tried = program_directories_tried(process, name);
  return std::count_if(tried.begin(), tried.end(),
                       [&](const std::string& directory) { return contains(path, ':' + directory + ':'); }) > 1;
}

std::span<const Rule> exec_rules() {
  return exec_table;
}

}  // namespace tracer::explain::rules
