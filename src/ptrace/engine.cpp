#include "ptrace/engine.h"

#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "arch/syscall_abi.h"
#include "ptrace/ptrace_engine.h"

namespace tracer {
namespace {

std::chrono::nanoseconds clock_now(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Result<std::unique_ptr<Engine>> make_ptrace_engine(EngineOptions options,
                                                   const std::function<void(const std::string&)>& complain) {
  auto engine = std::make_unique<PtraceEngine>(std::move(options));
  if (const Status started = engine->start(complain); !started) {
    return started.error();
  }
  return std::unique_ptr<Engine>(std::move(engine));
}

PtraceEngine::PtraceEngine(EngineOptions options) : options_(std::move(options)) {}

PtraceEngine::~PtraceEngine() = default;

Result<RunEnd> PtraceEngine::run(EventHandler& handler) {
  waiter_.emplace(options_.interruptible, options_.cpu_time, backstage_ ? Backstage::front_died_signal() : 0);
  handler_ = &handler;
  announce_attached();
  if (launched_) {
    start_program();
  }
  serve(handler);
  handler_ = nullptr;
  cpu_.release();
  return end_;
}

void PtraceEngine::serve(EventHandler& handler) {
  while (tracees_.size() != tracees_.silent()) {
    const Outcome outcome = waiter_->next();
    if (const auto* report = std::get_if<Report>(&outcome)) {
      on_report(*report);
    } else if (const auto* interrupted = std::get_if<Interrupted>(&outcome)) {
      end_.interrupted_by_signal = true;
      end_.interrupting_signal = interrupted->signal;
      if (detaching_all_) {
        abandon_stragglers();  // asked twice
      } else {
        begin_detach_all();
      }
    } else if (std::holds_alternative<Quiet>(outcome)) {
      adopt_orphans(std::nullopt);
      handler.idle();
      if (detaching_all_) {
        // Threads that cannot stop now, such as a vfork's parent, are let go by the kernel when we end.
        abandon_stragglers();
      }
    } else {
      break;
    }
  }
}

void PtraceEngine::start_program() {
  Launched launched = std::move(*launched_);
  launched_.reset();
  Running running = std::move(launched.thread).resume(Resume::to_next_call, 0);
  Tracee& tracee = tracees_.add(std::move(running), program_, Visibility::launching);
  tracee.abi = native_abi();
  tracee.filtered = !filter_.empty();
  open_gate(launched.gate);
}

void PtraceEngine::on_report(const Report& report) {
  const bool stopped = WIFSTOPPED(report.status);
  const Stop stop = stopped ? stop_of(report.status) : Stop{};
  Tracee* tracee = stopped && stop.kind == StopKind::exec ? on_exec(report.tid) : tracees_.find(report.tid);
  if (tracee == nullptr) {
    // A child whose parent has not told of it yet; or one that is no tracee, such as the reader of our output.
    early_[report.tid] = report.status;
    return;
  }
  cpu_.served(report.tid);
  if (!stopped) {
    on_end(*tracee, report.status);
    if (!early_.empty()) {
      adopt_orphans(std::nullopt);
    }
    return;
  }
  tracee->thread = Running::followed(report.tid).stopped();
  if (options_.cpu_time) {
    tracee->system_time = report.system_time;
  }
  on_stop(*tracee, stop);
}

void PtraceEngine::on_stop(Tracee& tracee, const Stop& stop) {
  if (tracee.detaching) {
    if (stop.kind == StopKind::fork) {
      on_fork(tracee);
    }
    finish_detach(tracee, stop.kind == StopKind::signal ? stop.signal : 0);
    return;
  }
  switch (stop.kind) {
    case StopKind::syscall:
    case StopKind::seccomp:
      on_call_stop(tracee, stop.kind == StopKind::seccomp);
      break;
    case StopKind::signal:
      on_signal(tracee, stop.signal);
      break;
    case StopKind::group_stop:
      on_group_stop(tracee, stop.signal);
      break;
    case StopKind::fork:
      on_fork(tracee);
      resume(tracee);
      break;
    case StopKind::exec:
    case StopKind::interrupted:
    case StopKind::other:
      resume(tracee);
      break;
  }
}

std::optional<CallState> PtraceEngine::call_state(Tracee& tracee, bool by_seccomp) {
  const auto& stopped = std::get<Stopped>(tracee.thread);
  if (call_info_works_) {
    auto state = stopped.call_state();
    if (state) {
      return state.value();
    }
    if (state.error().number == ESRCH) {
      return std::nullopt;
    }
    call_info_works_ = false;
  }
  const Direction expected = by_seccomp                ? Direction::entry
                             : !tracee.direction_known ? Direction::unknown
                             : tracee.in_call          ? Direction::exit
                                                       : Direction::entry;
  auto state = stopped.call_state_from_registers(expected);
  if (!state) {
    return std::nullopt;
  }
  return state.value();
}

void PtraceEngine::on_call_stop(Tracee& tracee, bool by_seccomp) {
  if (by_seccomp && tracee.visibility == Visibility::silent) {
    resume(tracee);
    return;
  }
  const auto state = call_state(tracee, by_seccomp);
  if (!state || state->direction == Direction::neither) {
    resume(tracee);
    return;
  }
  tracee.direction_known = true;
  if (state->direction == Direction::entry) {
    on_entry(tracee, *state);
  } else {
    on_exit(tracee, *state);
  }
}

void PtraceEngine::on_entry(Tracee& tracee, const CallState& state) {
  if (tracee.in_call) {
    // The filter's stop follows the entry's where a thread is stopped at both.
    resume(tracee);
    return;
  }
  tracee.in_call = true;
  tracee.abi = state.abi;
  tracee.call_system_time = tracee.system_time;
  if (tracee.visibility == Visibility::launching && is_execve(state.abi, state.number)) {
    tracees_.set_visibility(tracee, Visibility::visible);
  }
  tracee.installing_filter = tracee.filtered && tracee.visibility != Visibility::launching && installs_filter(state);
  if (tracee.visible()) {
    SyscallEnter enter;
    enter.number = state.number;
    enter.args = state.args;
    enter.instruction_pointer = state.instruction_pointer;
    enter.stack_pointer = state.stack_pointer;
    tracee.call_reported = true;
    emit(tracee, enter);
  }
  resume(tracee);
}

void PtraceEngine::on_exit(Tracee& tracee, const CallState& state) {
  const bool reported = tracee.call_reported;
  tracee.in_call = false;
  tracee.call_reported = false;
  if (tracee.installing_filter && !state.is_error) {
    // A filter of its own can hide calls from ours; SECCOMP_FILTER_FLAG_TSYNC even those of the other threads.
    for (const pid_t tid : tracees_.select([&](const Tracee& t) { return t.tgid == tracee.tgid; })) {
      tracees_.find(tid)->stops_at_all = true;
    }
  }
  if (reported) {
    SyscallExit exit;
    exit.value = state.result;
    exit.is_error = state.is_error;
    exit.instruction_pointer = state.instruction_pointer;
    if (options_.cpu_time) {
      exit.cpu_time = tracee.system_time - tracee.call_system_time;
    }
    emit(tracee, exit);
    if (tracee.tid() == program_ && !program_started_) {
      // The one call until then is the execve. Of a child that could not exec, the rest is our own code.
      program_started_ = true;
      if (state.is_error) {
        end_.exec_error = static_cast<int>(-state.result);
        tracees_.set_visibility(tracee, Visibility::launching);
      }
    }
  }
  resume(tracee);
}

void PtraceEngine::on_signal(Tracee& tracee, int signal) {
  if (tracee.visible()) {
    siginfo_t info;
    SignalStop stop;
    stop.signal = signal;
    if (std::get<Stopped>(tracee.thread).signal_info(info)) {
      stop.siginfo = std::as_bytes(std::span(&info, 1));
    }
    if (const auto state = call_state(tracee, false)) {
      stop.instruction_pointer = state->instruction_pointer;
    }
    emit(tracee, stop);
    if (tracee.detaching) {
      finish_detach(tracee, signal);
      return;
    }
  }
  resume(tracee, signal);
}

void PtraceEngine::on_group_stop(Tracee& tracee, int signal) {
  if (tracee.visible()) {
    emit(tracee, GroupStop{signal});
  }
  listen(tracee);
}

void PtraceEngine::on_fork(Tracee& parent) {
  const auto child = std::get<Stopped>(parent.thread).event_message();
  if (!child || *child <= 0) {
    return;
  }
  const bool is_thread = is_thread_of(*child, parent.tgid);
  if (parent.visible() && options_.follow_forks) {
    emit(parent, Fork{*child, is_thread});
  }
  adopt(*child, is_thread ? parent.tgid : *child, &parent);
}

void PtraceEngine::adopt(pid_t tid, pid_t tgid, const Tracee* parent) {
  if (tracees_.find(tid) != nullptr) {
    return;
  }
  const bool seen = options_.follow_forks && (parent == nullptr || parent->visible());
  const bool filtered = parent != nullptr ? parent->filtered : !filter_.empty();
  const bool detaching = (detaching_all_ && !filtered) || (parent != nullptr && parent->detaching);
  Tracee& tracee = tracees_.add(Running::followed(tid), tgid, seen ? Visibility::visible : Visibility::silent);
  tracee.abi = parent != nullptr ? parent->abi : native_abi();
  tracee.filtered = filtered;
  tracee.stops_at_all = parent != nullptr && parent->stops_at_all;
  tracee.detaching = detaching;
  if (seen && !detaching) {
    emit(tracee, Attached{});
  }
  const auto early = early_.find(tid);
  if (early == early_.end()) {
    return;
  }
  const Report report{tid, early->second, {}};
  early_.erase(early);
  // The end of an earlier bearer of the id is no news of this one.
  if (WIFSTOPPED(report.status) || !is_alive(tid)) {
    on_report(report);
  }
}

void PtraceEngine::adopt_orphans(std::optional<pid_t> execed) {
  std::vector<pid_t> orphans;
  for (const auto& [tid, status] : early_) {
    const pid_t process = process_of(tid);
    const pid_t parent = parent_of(tid);
    const auto may_tell = [&](const Tracee& t) { return t.tgid == process || t.tgid == parent; };
    if ((execed && (process == *execed || parent == *execed)) || tracees_.select(may_tell).empty()) {
      orphans.push_back(tid);
    }
  }
  for (const pid_t tid : orphans) {
    if (WIFSTOPPED(early_[tid])) {
      adopt(tid, process_of(tid), nullptr);
    }
    early_.erase(tid);
  }
}

Tracee* PtraceEngine::on_exec(pid_t tid) {
  Tracee* tracee = tracees_.find(tid);
  const auto message = Running::followed(tid).stopped().event_message();
  const pid_t former = message.value_or(tid);
  if (former != tid) {
    // A thread other than the leader called execve and takes over the leader's id.
    if (Tracee* caller = tracees_.find(former); caller != nullptr) {
      if (tracee != nullptr) {
        end_call(*tracee);
      } else {
        tracee = &tracees_.add(Running::followed(tid), tid, caller->visibility);
      }
      caller = tracees_.find(former);
      tracee->abi = caller->abi;
      tracees_.set_visibility(*tracee, caller->visibility);
      tracee->in_call = caller->in_call;
      tracee->call_reported = caller->call_reported;
      tracee->direction_known = caller->direction_known;
      tracee->filtered = caller->filtered;
      tracee->stops_at_all = caller->stops_at_all;
      tracee->detaching = caller->detaching;
      tracee->call_system_time = caller->call_system_time;
      tracees_.erase(former);
      tracee = tracees_.find(tid);
    }
  }
  if (tracee == nullptr) {
    return nullptr;
  }
  tracee->memory.forget();
  if (tracee->visible()) {
    emit(*tracee, Exec{former});
  }
  if (!early_.empty()) {
    adopt_orphans(tracee->tgid);  // the threads that the execve ended tell of nothing any more
  }
  return tracee;
}

void PtraceEngine::end_call(Tracee& tracee) {
  if (tracee.call_reported) {
    tracee.call_reported = false;
    emit(tracee, SyscallLost{});
  }
}

void PtraceEngine::on_end(Tracee& tracee, int status) {
  const pid_t tid = tracee.tid();
  end_call(tracee);
  if (tid == program_) {
    end_.program_status = status;
  }
  if (tracee.visible() || (tid == program_ && end_.exec_error != 0)) {
    emit(tracee, Exited{status});
  }
  tracees_.erase(tid);
}

void PtraceEngine::emit(Tracee& tracee, decltype(Event::what) what) {
  if (handler_ == nullptr) {
    return;
  }
  Event event;
  event.tid = tracee.tid();
  event.tgid = tracee.tgid;
  event.abi = tracee.abi;
  event.time.realtime = clock_now(CLOCK_REALTIME);
  event.time.monotonic = clock_now(CLOCK_MONOTONIC);
  event.what = what;
  switch (handler_->handle(event, tracee.memory)) {
    case Verdict::go_on:
      break;
    case Verdict::detach:
      begin_detach(tracee.tgid);
      break;
    case Verdict::detach_all:
      begin_detach_all();
      break;
  }
}

void PtraceEngine::resume(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  if (tracee.detaching) {
    finish_detach(tracee, signal);
    return;
  }
  tracee.memory.forget();
  const bool freely =
      tracee.visibility == Visibility::silent ||
      (tracee.filtered && !tracee.stops_at_all && !tracee.in_call && tracee.visibility != Visibility::launching);
  tracee.thread = std::move(*stopped).resume(freely ? Resume::freely : Resume::to_next_call, signal);
}

void PtraceEngine::listen(Tracee& tracee) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  if (tracee.detaching) {
    finish_detach(tracee, 0);
    return;
  }
  tracee.memory.forget();
  tracee.thread = std::move(*stopped).resume(Resume::listening, 0);
}

}  // namespace tracer
