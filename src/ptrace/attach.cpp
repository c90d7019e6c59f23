// Attaching to processes that run already, and saying why that failed.
#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "arch/syscall_abi.h"
#include "base/unique_fd.h"
#include "ptrace/ptrace_engine.h"

namespace tracer {
namespace {

/// The start of a small /proc file; empty if it cannot be read.
std::string read_proc(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return {};
  }
  std::string text(4096, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::string proc_path(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

/// A field of /proc/PID/status such as "TracerPid"; empty if there is none.
std::string status_field(pid_t pid, const std::string& name) {
  const std::string status = "\n" + read_proc(proc_path(pid, "status"));
  const std::string key = "\n" + name + ":\t";
  const std::size_t at = status.find(key);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t start = at + key.size();
  return status.substr(start, status.find('\n', start) - start);
}

pid_t number_field(pid_t pid, const std::string& name) {
  return std::atoi(status_field(pid, name).c_str());
}

bool has_ptrace_capability() {
  constexpr unsigned cap_sys_ptrace = 19;
  const std::string mask = status_field(::getpid(), "CapEff");
  return ((std::strtoull(mask.c_str(), nullptr, 16) >> cap_sys_ptrace) & 1) != 0;
}

std::string why_not_permitted(pid_t pid) {
  if (const pid_t holder = number_field(pid, "TracerPid"); holder > 0) {
    return "process " + std::to_string(holder) + " (" + status_field(holder, "Name") +
           ") is tracing it; a process can have one tracer only, so end that one first";
  }
  const std::string state = status_field(pid, "State");
  if (!state.empty() && (state[0] == 'Z' || state[0] == 'X')) {
    return "the process has ended already and waits for its parent, process " +
           std::to_string(number_field(pid, "PPid")) + ", to collect its exit status";
  }
  if (!state.empty() && status_field(pid, "VmSize").empty()) {
    return "it is a thread of the kernel's own, which cannot be traced";
  }
  if (!has_ptrace_capability()) {
    const int scope = std::atoi(read_proc("/proc/sys/kernel/yama/ptrace_scope").c_str());
    switch (scope) {
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

std::string attach_failure(pid_t pid, int error, bool strict) {
  std::string text = "attach: ptrace(PTRACE_SEIZE, " + std::to_string(pid) + "): " + std::string(std::strerror(error));
  if (!strict && (error == EPERM || error == EACCES)) {
    text += ": " + why_not_permitted(pid);
  }
  return text;
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> tids;
  DIR* folder = ::opendir(proc_path(pid, "task").c_str());
  if (folder == nullptr) {
    return tids;
  }
  while (const dirent* entry = ::readdir(folder)) {
    if (const pid_t tid = std::atoi(entry->d_name); tid > 0) {
      tids.push_back(tid);
    }
  }
  ::closedir(folder);
  return tids;
}

pid_t process_of(pid_t tid) {
  const pid_t tgid = number_field(tid, "Tgid");
  return tgid > 0 ? tgid : tid;
}

bool is_alive(pid_t tid) {
  const std::string state = status_field(tid, "State");
  return !state.empty() && state[0] != 'Z' && state[0] != 'X';
}

pid_t parent_of(pid_t tid) {
  return number_field(tid, "PPid");
}

bool is_thread_of(pid_t tid, pid_t tgid) {
  const std::string path = "/proc/" + std::to_string(tgid) + "/task/" + std::to_string(tid);
  return ::access(path.c_str(), F_OK) == 0;
}

std::string command_of(pid_t pid) {
  const std::string words = read_proc(proc_path(pid, "cmdline"));
  return words.substr(0, words.find('\0'));
}

Status PtraceEngine::attach_thread(pid_t tid, pid_t tgid, unsigned threads) {
  auto seized = Running::seize(tid, ptrace_options());
  if (!seized) {
    return seized.error();
  }
  seized.value().interrupt();
  Tracee& tracee = tracees_.add(std::move(seized).value(), tgid, Visibility::visible);
  tracee.abi = native_abi();
  requested_.push_back({tid, threads, {}});
  return Done{};
}

Status PtraceEngine::attach_process(pid_t pid) {
  if (pid == ::getpid()) {
    return Error{EPERM, options_.strict
                            ? "I'm sorry, I can't let you do that, Dave."
                            : "attach: process " + std::to_string(pid) + " is this tracer, which cannot trace itself"};
  }
  if (tracees_.find(pid) != nullptr && !options_.strict) {
    return Done{};  // named twice, or a thread of a process named before
  }
  const pid_t tgid = process_of(pid);
  if (const Status attached = attach_thread(pid, tgid, 1); !attached) {
    const int why = attached.error().number;
    return Error{why, attach_failure(pid, why, options_.strict)};
  }
  if (!options_.follow_forks) {
    return Done{};
  }
  const std::size_t first = requested_.size() - 1;
  // Threads start and end while we look. A pass that finds nothing new ends it: from then on every thread's creator
  // is ours, and the kernel attaches what it creates. (Those are met here as "not permitted" and left to their Fork.)
  for (bool found_new = true; found_new;) {
    found_new = false;
    for (const pid_t tid : threads_of(tgid)) {
      if (tracees_.find(tid) == nullptr && attach_thread(tid, tgid, 0).ok()) {
        ++requested_[first].threads;
        found_new = true;
      }
    }
  }
  return Done{};
}

void PtraceEngine::announce_attached() {
  for (const Requested& request : requested_) {
    if (!request.failure.empty()) {
      complain_(request.failure);
      continue;
    }
    Tracee* tracee = tracees_.find(request.tid);
    if (tracee == nullptr) {
      continue;
    }
    const std::string command = request.threads != 0 ? command_of(request.tid) : std::string();
    Attached attached;
    attached.command = command;
    attached.by_request = true;
    attached.threads = request.threads;
    emit(*tracee, attached);
  }
  requested_.clear();
}

unsigned PtraceEngine::ptrace_options() const {
  unsigned options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
  if (options_.follow_forks || !filter_.empty()) {
    options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  }
  if (!filter_.empty()) {
    options |= PTRACE_O_TRACESECCOMP;
  }
  if (options_.kill_on_exit || !filter_.empty()) {
    options |= PTRACE_O_EXITKILL;
  }
  return options;
}

void PtraceEngine::choose_filter() {
  std::string reason = options_.no_filter_because;
  if (reason.empty() && !options_.wanted) {
    reason = "every call is wanted";
  } else if (reason.empty() && !options_.attach.empty()) {
    // They cannot share the options that a filter asks for.
    reason = "processes are attached to, which outlive the tracer";
  } else if (reason.empty()) {
    filter_ = make_seccomp_filter(*options_.wanted);
    reason = "it would spare no stop, or the kernel has none";
  }
  if (options_.debug) {
    options_.debug(filter_.empty() ? "seccomp filter disabled: " + reason
                                   : "seccomp filter enabled: " + std::to_string(filter_.size()) + " instructions");
  }
}

Status PtraceEngine::start(const std::function<void(const std::string&)>& complain) {
  choose_filter();
  if (options_.debug) {
    debug_kernel();
  }
  if (options_.launch) {
    const pid_t started_as = ::getpid();
    auto launched = launch(*options_.launch, options_.strict, ptrace_options(), filter_);
    if (!launched) {
      return launched.error();
    }
    if (options_.debug && ::getpid() != started_as) {
      options_.debug("new tracer pid is " + std::to_string(::getpid()));
    }
    program_ = launched.value().thread.tid();
    backstage_ = std::move(launched.value().backstage);
    launched_ = std::move(launched).value();
  }
  complain_ = complain;
  for (const pid_t pid : options_.attach) {
    if (const Status attached = attach_process(pid); !attached) {
      requested_.push_back({pid, 0, attached.error().message});
    }
  }
  if (!options_.launch && tracees_.size() == 0) {
    announce_attached();
    return Error{ESRCH, {}};
  }
  return Done{};
}

}  // namespace tracer
