#include "app/doctor.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "app/raised_rights.h"
#include "bpf/engine.h"
#include "proc/proc_files.h"
#include "ptrace/engine.h"

namespace tracer::app {

namespace {

enum class State : std::uint8_t { works, limited, missing };

struct Finding {
  State state = State::works;
  std::string what;
  std::string found;
  std::string remedy;  ///< empty if nothing is to be done
};

/// Reads a small file of /proc or /sys without its newline; empty if it cannot be read.
std::string line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_there(const char* path) {
  return ::access(path, R_OK) == 0;
}

/// Counts events and shows nothing.
class Counter final : public trace::EventHandler {
 public:
  trace::Verdict handle(const trace::Event& event, const trace::Memory&) override {
    calls_ += std::holds_alternative<trace::SyscallEnter>(event.what) ? 1 : 0;
    return trace::Verdict::go_on;
  }
  void idle() override {}
  [[nodiscard]] unsigned calls() const { return calls_; }

 private:
  unsigned calls_ = 0;
};

/// The messages of a run of the ptrace engine, as with -d.
struct Trial {
  std::string error;  ///< empty: a program was traced to its end
  std::vector<std::string> said;

  [[nodiscard]] std::string about(std::string_view what) const {
    const auto found = std::find_if(said.begin(), said.end(), [&](const auto& line) { return line.starts_with(what); });
    return found == said.end() ? std::string{} : *found;
  }
};

Trial trace_something() {
  Trial trial;
  const auto listen = [&trial](const std::string& sentence) { trial.said.push_back(sentence); };
  const auto path = process::find_program("true");
  if (!path) {
    trial.error = path.error().message;
    return trial;
  }
  process::EngineOptions options;
  options.launch.emplace();
  options.launch->path = path.value();
  options.launch->args = {"true"};
  options.debug = listen;
  // With one call to trace, the engine installs a seccomp filter.
  options.wanted.emplace();
  for (auto& numbers : *options.wanted) {
    numbers.set(0);
  }
  auto engine = ptrace::make_ptrace_engine(std::move(options), listen);
  Counter counter;
  const auto run = engine ? engine.value()->run(counter) : Result<trace::RunEnd>(engine.error());
  if (!run) {
    trial.error = run.error().message.empty() && !trial.said.empty() ? trial.said.back() : run.error().message;
  } else if (counter.calls() == 0) {
    trial.error = "a program ran, but none of its calls was seen";
  }
  return trial;
}

// ---------------------------------------------------------------------------------------------- the findings

Finding ptrace_works(const Trial& trial) {
  if (trial.error.empty()) {
    return {State::works, "ptrace", "programs that are started here can be traced", {}};
  }
  return {
      State::missing, "ptrace", trial.error,
      "in a container, allow ptrace in its seccomp profile and give it CAP_SYS_PTRACE; trace from outside any other "
      "tracer"};
}

Finding attaching() {
  const bool capable = proc::has_capability(CAP_SYS_PTRACE);
  const std::string scope = line_of("/proc/sys/kernel/yama/ptrace_scope");
  const std::string of_yama = scope.empty() ? "there is no Yama" : "/proc/sys/kernel/yama/ptrace_scope is " + scope;
  if (scope == "3") {
    return {State::missing, "-p", of_yama + ": no process may be attached to",
            "reboot without it; start programs here"};
  }
  if (capable) {
    return {State::works, "-p", "every process of this PID namespace (CAP_SYS_PTRACE)", {}};
  }
  if (scope == "2") {
    return {State::missing, "-p", of_yama + ": attaching takes CAP_SYS_PTRACE", "run as root, or start programs here"};
  }
  if (scope == "1") {
    return {State::limited, "-p", of_yama + ": only descendants of the tracer, which are the processes that it starts",
            "run as root, or sysctl kernel.yama.ptrace_scope=0"};
  }
  return {State::limited, "-p", "processes of the same user (no CAP_SYS_PTRACE; " + of_yama + ')',
          "run as root for the others"};
}

Finding call_info(const Trial& trial) {
  const bool get = !trial.about("PTRACE_GET_SYSCALL_INFO works").empty();
  const bool set = !trial.about("PTRACE_SET_SYSCALL_INFO works").empty();
  if (get && set) {
    return {State::works, "syscall info", "PTRACE_GET_SYSCALL_INFO and PTRACE_SET_SYSCALL_INFO", {}};
  }
  return {State::limited,
          "syscall info",
          get ? "PTRACE_GET_SYSCALL_INFO, but not PTRACE_SET_SYSCALL_INFO (Linux 6.16); registers take its place"
              : "no PTRACE_GET_SYSCALL_INFO (Linux 5.3); registers take its place",
          {}};
}

Finding seccomp(const Trial& trial) {
  const std::string filter = trial.about("seccomp filter enabled");
  if (!filter.empty()) {
    return {State::works, "seccomp", "with -f, calls that are not asked for run at full speed", {}};
  }
  const std::string actions = line_of("/proc/sys/kernel/seccomp/actions_avail");
  const bool can_trace = actions.find("trace") != std::string::npos;
  const std::string why = trial.about("seccomp filter disabled");
  return {State::limited, "seccomp",
          !can_trace ? "the kernel has no SECCOMP_RET_TRACE: every call stops its program"
                     : "no filter: " + (why.empty() ? "it could not be tried" : why),
          can_trace ? "" : "a kernel with CONFIG_SECCOMP_FILTER"};
}

Finding memory() {
  int here = 1;
  int there = 0;
  const iovec local{&there, sizeof there};
  const iovec remote{&here, sizeof here};
  if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof here)) {
    return {State::works, "memory", "process_vm_readv", {}};
  }
  return {State::limited, "memory", "process_vm_readv is refused; words are read one by one",
          "in a container, allow it in the seccomp profile"};
}

Finding bpf() {
  constexpr std::uint32_t small_buffer = 65536;
  const auto ignore = [](const std::string&) {};
  process::EngineOptions options;
  options.scope.system_wide = true;
  const auto counts = bpf::make_counting_engine(options, ignore);
  if (!counts) {
    return {State::missing, "bpf engine", counts.error().message, {}};
  }
  bpf::TracingOptions tracing;
  tracing.buffer_size = small_buffer;
  const auto traces = bpf::make_tracing_engine(options, spec::builtin_tables(), tracing, ignore);
  if (!traces) {
    return {State::limited,
            "bpf engine",
            "-c counts in the kernel, but --engine=bpf shows no calls: " + traces.error().message,
            {}};
  }
  return {State::works, "bpf engine", "-c counts in the kernel, --engine=bpf shows calls from there; nobody stops", {}};
}

Finding btf() {
  if (is_there("/sys/kernel/btf/vmlinux")) {
    return {State::works, "BTF", "/sys/kernel/btf/vmlinux", {}};
  }
  return {State::missing, "BTF", "the kernel does not describe its types", "a kernel with CONFIG_DEBUG_INFO_BTF"};
}

Finding tracefs() {
  if (is_there("/sys/kernel/tracing/events") || is_there("/sys/kernel/debug/tracing/events")) {
    return {State::works, "tracefs", "tracepoints can be looked up", {}};
  }
  return {State::missing, "tracefs", "/sys/kernel/tracing is empty, or closed to this user",
          "as root: mount -t tracefs tracefs /sys/kernel/tracing"};
}

/// What a copy with file capabilities or set-id bits means; nothing if this is none.
std::vector<Finding> raised_rights() {
  struct ::stat status {};
  if (!has_raised_rights() || ::stat("/proc/self/exe", &status) != 0) {
    return {};
  }
  if (!proc::has_capability(CAP_BPF)) {
    return {{State::limited, "rights", "this copy of the tracer drops the rights that its file gives",
             "as root: chmod ug-s FILE; setcap -r FILE"}};
  }
  if ((status.st_mode & S_IXOTH) != 0) {
    return {{State::limited, "rights", "every user can run this copy of the tracer, and uses BPF with it",
             "as root: chgrp GROUP FILE; chmod 0750 FILE, for a group that is trusted like root"}};
  }
  return {{State::works,
           "rights",
           "not every user can run this copy; those who can use BPF with it, which takes as much trust as root",
           {}}};
}

Finding uprobes() {
  const std::string paranoid = line_of("/proc/sys/kernel/perf_event_paranoid");
  if (!is_there("/sys/bus/event_source/devices/uprobe/type")) {
    return {State::missing, "uprobes", "the kernel has none", "a kernel with CONFIG_UPROBE_EVENTS"};
  }
  if (proc::has_capability(CAP_PERFMON) || proc::has_capability(CAP_SYS_ADMIN)) {
    return {State::works, "uprobes", "perf_event_open takes them", {}};
  }
  return {State::missing, "uprobes", "no CAP_PERFMON (perf_event_paranoid is " + paranoid + ')', "run as root"};
}

}  // namespace

std::string doctor_report() {
  utsname kernel{};
  ::uname(&kernel);
  std::ostringstream report;
  report << kernel.sysname << ' ' << kernel.release << ' ' << kernel.machine << ", user " << ::geteuid() << '\n';
  const Trial trial = trace_something();
  std::vector<Finding> findings = {
      ptrace_works(trial), attaching(), call_info(trial), seccomp(trial), memory(), bpf(), btf(), tracefs(), uprobes()};
  for (Finding& finding : raised_rights()) {
    findings.push_back(std::move(finding));
  }
  for (const Finding& finding : findings) {
    constexpr std::array<std::string_view, 3> words = {"works   ", "limited ", "missing "};
    constexpr std::size_t width = 14;
    report << words[static_cast<std::size_t>(finding.state)] << finding.what
           << std::string(width - std::min(finding.what.size(), width), ' ') << finding.found << '\n';
    if (!finding.remedy.empty()) {
      report << std::string(words[0].size() + width, ' ') << "remedy: " << finding.remedy << '\n';
    }
  }
  return report.str();
}

}  // namespace tracer::app
