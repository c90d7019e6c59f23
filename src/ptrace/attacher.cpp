#include "ptrace/attacher.h"

#include <fmt/core.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "arch/syscall_abi.h"
#include "proc/proc_files.h"
#include "process/attach_failure.h"
#include "process/standard_streams.h"
#include "ptrace/debug.h"
#include "ptrace/seccomp_filter.h"

namespace tracer::ptrace {

Status Attacher::attach_all() {
  if (const Status chosen = choose_filter(); !chosen) {
    return chosen.error();
  }
  if (options_.debug) {
    debug_kernel(options_.debug, ptrace_options());
  }
  if (options_.launch) {
    if (const Status launched = launch_program(); !launched) {
      return launched.error();
    }
  } else if (watches_whole_processes()) {
    // A tracer that is killed leaves breakpoints behind, or calls that raise SIGSYS, which kill the process. A proxy
    // can be killed without harm.
    auto proxy = ForegroundProxy::start(options_.interruptible, on_unknown_end_);
    if (!proxy) {
      return proxy.error();
    }
    proxy_ = std::move(proxy).value();
  }
  for (const pid_t pid : options_.attach) {
    if (const Status attached = attach_process(pid); !attached) {
      requested_.push_back(
          {pid, 0, attached.error().message, process::attach_hint(pid, attached.error().number, options_)});
    }
  }
  return Done{};
}

Status Attacher::choose_filter() {
  if (recorder_ != nullptr && options_.launch) {
    trace::WantedCalls all;
    std::for_each(all.begin(), all.end(), [](auto& calls) { calls.set(); });
    filter_ = make_seccomp_filter(options_.wanted.value_or(all), options_.wanted_commands, recorder_->exemption());
    return filter_.empty() ? Status(Error{ENOSYS, "the kernel has no seccomp filters"}) : Status(Done{});
  }
  std::string reason = options_.wanted ? options_.no_filter_because : "every call is wanted";
  if (reason.empty() && !options_.attach.empty()) {
    // The options that a filter asks for are not for them.
    reason = "processes are attached to, which outlive the tracer";
  } else if (reason.empty()) {
    filter_ = make_seccomp_filter(*options_.wanted, options_.wanted_commands);
    reason = "it would spare no stop, or the kernel has none";
  }
  if (options_.debug) {
    options_.debug(filter_.empty() ? "seccomp filter disabled: " + reason
                                   : fmt::format("seccomp filter enabled: {} instructions", filter_.size()));
  }
  return Done{};
}

unsigned Attacher::ptrace_options() const {
  // TRACEEXIT: an exit is reported before what it wakes: the parent in vfork, and those that wait for the thread.
  unsigned options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  if (follows_children()) {
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

Status Attacher::launch_program() {
  const pid_t started_as = ::getpid();
  std::optional<process::Interruptible> proxy;
  if (!filter_.empty() || functions_ != nullptr) {
    proxy = options_.interruptible;
  }
  auto launched = launch(*options_.launch, options_.strict, ptrace_options(), filter_, proxy, on_unknown_end_);
  if (!launched) {
    return launched.error();
  }
  if (options_.debug && ::getpid() != started_as) {
    options_.debug(fmt::format("new tracer pid is {}", ::getpid()));
  }
  program_ = launched.value().thread.tid();
  proxy_ = std::move(launched.value().proxy);
  launched_ = std::move(launched).value();
  return Done{};
}

void Attacher::start_program(EventSink& sink) {
  if (!launched_) {
    return;
  }
  Launched launched = std::move(*launched_);
  launched_.reset();
  Running running = std::move(launched.thread).resume(Resume::to_next_call, 0);
  Tracee& tracee = tracees_.add(std::move(running), program_, Visibility::launching);
  tracee.abi = arch::native_abi();
  tracee.filtered = !filter_.empty();
  if (options_.launch->daemonize != process::Daemonize::no) {
    // The program is no child of ours: it was attached to.
    trace::Attached attached;
    attached.command = options_.launch->args.front();
    attached.by_request = true;
    sink.emit(tracee, attached);
  }
  if (options_.launch->takes_streams) {
    process::leave_standard_streams_to_program();
  }
  process::open_gate(launched.gate);
}

Status Attacher::attach_thread(pid_t tid, pid_t tgid, unsigned threads, Visibility visibility) {
  auto seized = Running::seize(tid, ptrace_options());
  if (!seized) {
    return seized.error();
  }
  seized.value().interrupt();
  Tracee& tracee = tracees_.add(std::move(seized).value(), tgid, visibility);
  tracee.abi = arch::native_abi();
  tracee.found_running = true;
  tracee.recorded = recorder_ != nullptr;
  if (visibility == Visibility::visible) {
    requested_.push_back({tid, threads, {}, {}});
  }
  return Done{};
}

Status Attacher::attach_process(pid_t pid) {
  const pid_t tgid = proc::process_of(pid);
  if (Tracee* tracee = tracees_.find(pid); tracee != nullptr && tracee->visibility == Visibility::suppressed) {
    tracees_.set_visibility(*tracee, Visibility::visible);  // another thread of its process was named before
    requested_.push_back({pid, 1, {}, {}});
    return Done{};
  }
  if (tracees_.find(pid) != nullptr && !options_.strict) {
    return Done{};  // named twice, or a thread of a process named before
  }
  if (const std::string why_not = recorder_ != nullptr ? recorder_->why_not_attach(tgid) : std::string();
      !why_not.empty()) {
    return Error{EINVAL, why_not};
  }
  if (const Status attached = attach_thread(pid, tgid, 1, Visibility::visible); !attached) {
    const int why = attached.error().number;
    return Error{why, process::attach_failure(pid, why, options_)};
  }
  const std::size_t first = requested_.size() - 1;
  if (shows_whole_processes() || watches_whole_processes()) {
    attach_more_threads(tgid, first);
  }
  if (watches_whole_processes()) {
    claim_all_threads(tgid, first);
  }
  return Done{};
}

void Attacher::attach_more_threads(pid_t tgid, std::size_t first) {
  // Threads start and end while we look. A pass that finds nothing new ends it: from then on every thread's creator
  // is ours, and the kernel attaches what it creates. (Those are met here as "not permitted" and left to their Fork.)
  const bool seen = shows_whole_processes();
  for (bool found_new = true; found_new;) {
    found_new = false;
    for (const pid_t tid : proc::threads_of(tgid)) {
      if (tracees_.find(tid) == nullptr &&
          attach_thread(tid, tgid, 0, seen ? Visibility::visible : Visibility::suppressed).ok()) {
        requested_[first].threads += seen ? 1 : 0;
        found_new = true;
      }
    }
  }
}

void Attacher::claim_all_threads(pid_t tgid, std::size_t first) {
  // Another tracer may be just about to detach from some of them.
  constexpr int most_tries = 200;
  const timespec moment{0, 10'000'000};
  for (int tries = 0; !all_threads_are_ours(tgid) && tries < most_tries; ++tries) {
    ::nanosleep(&moment, nullptr);
    attach_more_threads(tgid, first);
  }
  if (all_threads_are_ours(tgid)) {
    return;
  }
  std::string_view what = "its calls stop instead of being recorded";
  if (functions_ != nullptr) {
    functions_->refuse(tgid);
    what = "its functions are not traced";
  }
  requested_.push_back(
      {tgid,
       0,
       fmt::format("attach: some threads of process {} have another tracer, so {}; end that one first", tgid, what),
       {}});
}

bool Attacher::all_threads_are_ours(pid_t tgid) {
  for (const pid_t tid : proc::threads_of(tgid)) {
    if (tracees_.find(tid) == nullptr && proc::id_field(tid, "TracerPid") != ::getpid() && proc::is_alive(tid)) {
      return false;
    }
  }
  return true;
}

void Attacher::announce(EventSink& sink) {
  for (const Requested& request : requested_) {
    if (!request.failure.empty()) {
      sink.complain(request.failure);
      if (!request.hint.empty()) {
        sink.complain(request.hint);
      }
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
    sink.emit(*tracee, attached);
  }
  requested_.clear();
}

}  // namespace tracer::ptrace
