#include "process/attach_failure.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/read_file.h"
#include "proc/proc_files.h"

namespace tracer::process {
namespace {

int yama_scope() {
  return std::atoi(read_file("/proc/sys/kernel/yama/ptrace_scope").c_str());
}

std::string why_not_permitted(pid_t pid) {
  if (const pid_t holder = proc::id_field(pid, "TracerPid"); holder > 0) {
    return fmt::format("process {} ({}) is tracing it; a process can have one tracer only, so end that one first",
                       holder, proc::status_field(holder, "Name"));
  }
  const std::string state = proc::status_field(pid, "State");
  if (!state.empty() && (state[0] == 'Z' || state[0] == 'X')) {
    for (const pid_t tid : proc::threads_of(pid)) {
      if (proc::is_alive(tid)) {
        return fmt::format(
            "the process' first thread has ended, but not thread {}: trace that one (-f: and the others)", tid);
      }
    }
    return fmt::format("the process has ended already and waits for its parent, process {}, to collect its exit status",
                       proc::id_field(pid, "PPid"));
  }
  if (!state.empty() && proc::status_field(pid, "VmSize").empty()) {
    return "it is a thread of the kernel's own, which cannot be traced";
  }
  if (!proc::has_capability(CAP_SYS_PTRACE)) {
    switch (yama_scope()) {
      case 1:
        return "/proc/sys/kernel/yama/ptrace_scope is 1: only a process's ancestors may trace it; start the program "
               "with the tracer, run as root (CAP_SYS_PTRACE), or write 0 there";
      case 2:
        return "/proc/sys/kernel/yama/ptrace_scope is 2: tracing takes CAP_SYS_PTRACE; run as root";
      case 3:
        return "/proc/sys/kernel/yama/ptrace_scope is 3: no process may be attached to until the next boot";
      default:
        return "the process is another user's or is protected (set-user-ID, not dumpable); run as root "
               "(CAP_SYS_PTRACE)";
    }
  }
  return "a security module, a container's seccomp filter or a user namespace stands between";
}

}  // namespace

std::string attach_failure(pid_t pid, int error, const EngineOptions& options) {
  if (!options.strict && error == EPERM && ::kill(pid, 0) != 0 && errno == ESRCH) {
    error = ESRCH;  // it had ended then, and has been collected since
  }
  std::string text = options.as_ltrace ? fmt::format("Cannot attach to pid {}: ", pid)
                                       : fmt::format("attach: ptrace(PTRACE_SEIZE, {}): ", pid);
  text += std::strerror(error);
  if (!options.strict && (error == EPERM || error == EACCES)) {
    text += ": " + why_not_permitted(pid);
  }
  return text;
}

std::string attach_hint(pid_t pid, int error, const EngineOptions& options) {
  if (!options.strict || options.as_ltrace || error != EPERM) {
    return {};
  }
  if (const pid_t holder = proc::id_field(pid, "TracerPid"); holder > 0) {
    return fmt::format("Process {} is already being traced by pid {}", pid, holder);
  }
  const bool may_trace = proc::has_capability(CAP_SYS_PTRACE);
  const std::string owner = proc::status_field(pid, "Uid");
  if (!may_trace && !owner.empty() && std::strtoul(owner.c_str(), nullptr, 10) != ::getuid()) {
    return fmt::format("process {} may be owned by a different user", pid);
  }
  constexpr int no_attach = 3;  // for nobody
  const int scope = yama_scope();
  return scope == no_attach || (scope > 0 && !may_trace)
             ? fmt::format("sysctl kernel.yama.ptrace_scope = {} may be restricting this attach", scope)
             : std::string();
}

}  // namespace tracer::process
