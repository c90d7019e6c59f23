#include "ptrace/engine.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "ptrace/ptrace_engine.h"
#include "trace/stack.h"

namespace tracer::ptrace {
namespace {

/// Asked for its registers only while it is stopped, if it is.
class LiveStack final : public trace::StackSource {
 public:
  explicit LiveStack(const Tracee& tracee) : tracee_(tracee) {}

  [[nodiscard]] std::size_t registers(std::span<std::byte> into) const override {
    const auto* stopped = std::get_if<Stopped>(&tracee_.thread);
    if (stopped == nullptr) {
      return 0;
    }
    const auto registers = tracee_.without_trap != nullptr ? *tracee_.without_trap : stopped->registers();
    if (!registers || registers.value().bytes().size() > into.size()) {
      return 0;
    }
    const auto bytes = registers.value().bytes();
    std::copy(bytes.begin(), bytes.end(), into.begin());
    return bytes.size();
  }

 private:
  const Tracee& tracee_;
};

}  // namespace

Result<std::unique_ptr<trace::Engine>> make_ptrace_engine(process::EngineOptions options,
                                                          const std::function<void(const std::string&)>& complain,
                                                          const MakeFunctionHooks& functions) {
  auto engine = std::make_unique<PtraceEngine>(std::move(options), functions);
  if (const Status started = engine->start(complain); !started) {
    return started.error();
  }
  return std::unique_ptr<trace::Engine>(std::move(engine));
}

PtraceEngine::PtraceEngine(process::EngineOptions options, const MakeFunctionHooks& functions)
    : options_(std::move(options)), functions_(functions ? functions(*this) : nullptr) {}

PtraceEngine::~PtraceEngine() = default;

Result<trace::RunEnd> PtraceEngine::run(trace::EventHandler& handler) {
  waiter_.emplace(options_.interruptible, options_.cpu_time, proxy_ ? ForegroundProxy::died_signal() : 0);
  handler_ = &handler;
  announce_attached();
  if (launched_) {
    start_program();
  }
  serve(handler);
  handler_ = nullptr;
  if (functions_ && functions_->found_nothing() && !options_.as_ltrace && complain_) {
    complain_(
        "no function or probe that is asked for is in the program or its libraries; --list-probes=PROG lists "
        "what there is");
  }
  return end_;
}

void PtraceEngine::serve(trace::EventHandler& handler) {
  while (tracees_.size() != tracees_.suppressed() || must_free_suppressed()) {
    Outcome outcome = waiter_->next(next_release(), handler.alarm_at());
    if (auto* report = std::get_if<Report>(&outcome)) {
      on_report(std::move(*report));
    } else if (const auto* interrupted = std::get_if<Interrupted>(&outcome)) {
      end_.interrupted_by_signal = true;
      end_.interrupting_signal = interrupted->signal;
      if (detaching_all_) {
        abandon_stragglers();  // asked twice
      } else {
        pass_on(interrupted->signal);
        begin_detach_all();
      }
    } else if (std::holds_alternative<Due>(outcome)) {
      release_due();
      ring(handler);
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

void PtraceEngine::ring(trace::EventHandler& handler) {
  const auto alarm = handler.alarm_at();
  if (alarm && *alarm <= clock_now(CLOCK_MONOTONIC) && handler.on_alarm() == trace::Verdict::detach_all &&
      !detaching_all_) {
    begin_detach_all();
  }
}

void PtraceEngine::pass_on(int signal) {
  const Tracee* program = options_.signal_program ? tracees_.find(program_) : nullptr;
  // A program that we detach from gets no more signals from us, and whoever kills the proxy means none for the program.
  if (program != nullptr && program->visible() && !program->detaching && signal != ForegroundProxy::died_signal()) {
    process::send_ending_signal(program_, signal);
  }
}

void PtraceEngine::start_program() {
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
    emit(tracee, attached);
  }
  process::open_gate(launched.gate);
}

void PtraceEngine::on_report(Report report) {
  if (options_.debug) {
    debug_report(report);
  }
  const pid_t tid = report.tid();
  auto* stopped = std::get_if<Stopped>(&report.thread);
  const Stop stop = stopped != nullptr ? stop_of(report.status) : Stop{};
  const bool execed = stopped != nullptr && stop.kind == StopKind::exec;
  const pid_t former = execed ? stopped->event_message().value_or(tid) : tid;
  Tracee* tracee = execed ? find_execed(*stopped, former) : tracees_.find(tid);
  if (tracee == nullptr && stopped != nullptr && stop.kind == StopKind::exit) {
    // It was killed before its parent has reported it. The parent may be dead too, and then nobody else lets the thread
    // end, for which the leader of its process waits.
    early_.erase(tid);
    static_cast<void>(std::move(*stopped).resume(Resume::to_next_call, 0));
    return;
  }
  if (tracee == nullptr) {
    // A child that its parent has not reported yet; or one that is no tracee, such as the reader of our output.
    early_.insert_or_assign(tid, std::move(report));
    return;
  }
  if (stopped == nullptr) {
    on_end(*tracee, report.status);
    if (!early_.empty()) {
      adopt_orphans(std::nullopt);
    }
    return;
  }
  tracee->thread = std::move(*stopped);
  tracee->held_until.reset();
  if (options_.cpu_time) {
    tracee->system_time = report.system_time;
  }
  if (execed) {
    on_exec(*tracee, former);
  }
  on_stop(*tracee, stop);
}

void PtraceEngine::on_stop(Tracee& tracee, const Stop& stop) {
  if (tracee.hidden_untraced && stop.kind != StopKind::fork) {
    restore_untraced(tracee);
  }
  if (functions_ && tracee.visible() && !tracee.detaching && (tracee.tid() != program_ || program_started_)) {
    functions_->begin(tracee);
  }
  if (tracee.detaching) {
    if (stop.kind == StopKind::fork) {
      on_fork(tracee);
    } else if (stop.kind == StopKind::syscall) {
      pay_result(tracee);
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
    case StopKind::exit:
      end_call(tracee);
      resume(tracee);
      break;
    case StopKind::exec:
    case StopKind::interrupted:
    case StopKind::other:
      resume(tracee);
      break;
  }
}

void PtraceEngine::on_signal(Tracee& tracee, int signal) {
  if (functions_ &&
      ((signal == SIGTRAP && functions_->on_trap(tracee)) || (signal == SIGSEGV && functions_->on_fault(tracee)))) {
    resume(tracee);
    return;
  }
  if (functions_) {
    functions_->put_back(tracee);
  }
  if (tracee.visible()) {
    siginfo_t info;
    trace::SignalStop stop;
    stop.signal = signal;
    if (stopped_thread(tracee).signal_info(info)) {
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
    emit(tracee, trace::GroupStop{signal});
  }
  listen(tracee);
}

trace::Event PtraceEngine::event_of(const Tracee& tracee, What what) {
  trace::Event event;
  event.tid = tracee.tid();
  event.tgid = tracee.tgid;
  event.abi = tracee.abi;
  event.time.realtime = clock_now(CLOCK_REALTIME);
  event.time.monotonic = clock_now(CLOCK_MONOTONIC);
  event.what = what;
  return event;
}

void PtraceEngine::emit(Tracee& tracee, What what) {
  hand_out(tracee, event_of(tracee, what), tracee);
}

void PtraceEngine::emit_for(pid_t tid, const Tracee& stopped, What what) {
  if (const Tracee* tracee = tracees_.find(tid); tracee != nullptr && tracee->visible()) {
    hand_out(*tracee, event_of(*tracee, what), stopped);
  }
}

void PtraceEngine::complain(const std::string& sentence) {
  if (complain_) {
    complain_(sentence);
  }
}

void PtraceEngine::hand_out(const Tracee& tracee, trace::Event event, const Tracee& stopped) {
  if (handler_ == nullptr) {
    return;
  }
  const LiveStack stack(stopped);
  event.stack = &stack;
  switch (handler_->handle(event, tracee.memory)) {
    case trace::Verdict::go_on:
      break;
    case trace::Verdict::detach:
      begin_detach(tracee.tgid);
      break;
    case trace::Verdict::detach_all:
      begin_detach_all();
      break;
  }
}

void PtraceEngine::resume(Tracee& tracee, int signal) {
  auto* stopped = std::get_if<Stopped>(&tracee.thread);
  if (stopped == nullptr) {
    return;
  }
  if (tracee.detaching && !tracee.tampering.owed) {
    finish_detach(tracee, signal);
    return;
  }
  tracee.memory.forget();
  const bool freely = !tracee.tampering.owed && !tracee.hidden_untraced &&
                      (tracee.is_suppressed() ||
                       ((tracee.filtered || (functions_ && options_.only_functions)) && !tracee.stops_at_all &&
                        !tracee.in_call && tracee.visibility != Visibility::launching));
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

}  // namespace tracer::ptrace
