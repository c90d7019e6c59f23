// Attaching to processes that run already, and saying why that failed.
#include <fmt/core.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "arch/syscall_abi.h"
#include "proc/proc_files.h"
#include "process/attach_failure.h"
#include "ptrace/ptrace_engine.h"

namespace tracer::ptrace {

Status PtraceEngine::attach_thread(pid_t tid, pid_t tgid, unsigned threads) {
  auto seized = Running::seize(tid, ptrace_options());
  if (!seized) {
    return seized.error();
  }
  seized.value().interrupt();
  Tracee& tracee = tracees_.add(std::move(seized).value(), tgid, Visibility::visible);
  tracee.abi = arch::native_abi();
  requested_.push_back({tid, threads, {}});
  return Done{};
}

/// Those that the kernel has attached for us among them.
bool PtraceEngine::all_threads_are_ours(pid_t tgid) {
  for (const pid_t tid : proc::threads_of(tgid)) {
    if (tracees_.find(tid) == nullptr && proc::number_field(tid, "TracerPid") != ::getpid() && proc::is_alive(tid)) {
      return false;
    }
  }
  return true;
}

Status PtraceEngine::attach_process(pid_t pid) {
  if (tracees_.find(pid) != nullptr && !options_.strict) {
    return Done{};  // named twice, or a thread of a process named before
  }
  const pid_t tgid = proc::process_of(pid);
  if (const Status attached = attach_thread(pid, tgid, 1); !attached) {
    const int why = attached.error().number;
    return Error{why, process::attach_failure(pid, why, options_)};
  }
  if (!options_.follow_forks && !functions_) {
    return Done{};
  }
  const std::size_t first = requested_.size() - 1;
  // Threads start and end while we look. A pass that finds nothing new ends it: from then on every thread's creator
  // is ours, and the kernel attaches what it creates. (Those are met here as "not permitted" and left to their Fork.)
  const auto attach_all = [&] {
    for (bool found_new = true; found_new;) {
      found_new = false;
      for (const pid_t tid : proc::threads_of(tgid)) {
        if (tracees_.find(tid) == nullptr && attach_thread(tid, tgid, 0).ok()) {
          ++requested_[first].threads;
          found_new = true;
        }
      }
    }
  };
  attach_all();
  if (functions_) {
    // A breakpoint kills the thread that runs into it without us. Another tracer may be just about to let go of some.
    constexpr int most_tries = 200;
    const timespec moment{0, 10'000'000};
    for (int tries = 0; !all_threads_are_ours(tgid) && tries < most_tries; ++tries) {
      ::nanosleep(&moment, nullptr);
      attach_all();
    }
    if (!all_threads_are_ours(tgid)) {
      functions_->refuse(tgid);
      requested_.push_back({tgid, 0,
                            fmt::format("attach: some threads of process {} have another tracer, so its functions are "
                                        "not traced; end that one first",
                                        tgid)});
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
    const std::string command = request.threads != 0 ? proc::command_of(request.tid) : std::string();
    trace::Attached attached;
    attached.command = command;
    attached.by_request = true;
    attached.threads = request.threads;
    emit(*tracee, attached);
  }
  requested_.clear();
}

unsigned PtraceEngine::ptrace_options() const {
  // TRACEEXIT: an exit is told before what it wakes: who waits in vfork or for the thread.
  unsigned options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  if (options_.follow_forks || functions_ || !filter_.empty()) {
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
  std::string reason = options_.wanted ? options_.no_filter_because : "every call is wanted";
  if (reason.empty() && !options_.attach.empty()) {
    // They cannot share the options that a filter asks for.
    reason = "processes are attached to, which outlive the tracer";
  } else if (reason.empty()) {
    filter_ = make_seccomp_filter(*options_.wanted);
    reason = "it would spare no stop, or the kernel has none";
  }
  if (options_.debug) {
    options_.debug(filter_.empty() ? "seccomp filter disabled: " + reason
                                   : fmt::format("seccomp filter enabled: {} instructions", filter_.size()));
  }
}

Status PtraceEngine::start(const std::function<void(const std::string&)>& complain) {
  choose_filter();
  if (options_.debug) {
    debug_kernel();
  }
  if (options_.launch) {
    const pid_t started_as = ::getpid();
    std::optional<process::Interruptible> proxy;
    if (!filter_.empty() || functions_) {
      proxy = options_.interruptible;
    }
    auto launched = launch(*options_.launch, options_.strict, ptrace_options(), filter_, proxy);
    if (!launched) {
      return launched.error();
    }
    if (options_.debug && ::getpid() != started_as) {
      options_.debug(fmt::format("new tracer pid is {}", ::getpid()));
    }
    program_ = launched.value().thread.tid();
    proxy_ = std::move(launched.value().proxy);
    launched_ = std::move(launched).value();
  }
  if (functions_ && !options_.launch) {
    // A tracer that is killed leaves breakpoints behind, which kill the process. A proxy can be killed without harm.
    auto proxy = ForegroundProxy::start(options_.interruptible);
    if (!proxy) {
      return proxy.error();
    }
    proxy_ = std::move(proxy).value();
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

}  // namespace tracer::ptrace
