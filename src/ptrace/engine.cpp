#include "ptrace/engine.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "base/unique_fd.h"
#include "ptrace/debug.h"
#include "ptrace/ptrace_engine.h"
#include "ptrace/tampering.h"
#include "ptrace/untraced_clones.h"
#include "trace/stack.h"

namespace tracer::ptrace {
namespace {

/// The first process of our PID namespace: when it ends, the kernel kills all others of the namespace, and so us.
constexpr pid_t init_process = 1;

/// Has registers only while the thread is stopped.
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

/// Remembers in which call a thread was when it was attached, and of which ABI it is.
void find_interrupted_call(Tracee& tracee) {
  // The kernel's result of a call that restart_syscall is to continue, which a thread that has stopped in it still has.
  constexpr std::int64_t restart_block = -516;
  const Result<arch::Registers> registers = stopped_thread(tracee).registers();
  const Result<CallState> state = stopped_thread(tracee).call_state_from_registers(Direction::exit);
  if (registers.ok() && state.ok()) {
    tracee.abi = registers.value().mode_abi();
    // Where it shares a register with the first argument, the kernel has put that back before the stop: it may be any
    // call then. Only restart_syscall shows it.
    if (arch::Registers::result_replaces_argument || state.value().result == restart_block) {
      tracee.interrupted_call = state.value().number;
    }
  }
}

}  // namespace

Result<std::unique_ptr<trace::Engine>> make_ptrace_engine(process::EngineOptions options,
                                                          const std::function<void(const std::string&)>& complain,
                                                          const MakeFunctionHooks& functions,
                                                          const MakeCallRecorder& recorder) {
  auto engine = std::make_unique<PtraceEngine>(std::move(options), functions, recorder);
  if (const Status started = engine->start(complain); !started) {
    return started.error();
  }
  return std::unique_ptr<trace::Engine>(std::move(engine));
}

PtraceEngine::PtraceEngine(process::EngineOptions options, const MakeFunctionHooks& functions,
                           const MakeCallRecorder& recorder)
    : options_(std::move(options)),
      functions_(functions ? functions(*this) : nullptr),
      recorder_(recorder ? recorder(*this) : nullptr),
      attacher_(options_, tracees_, functions_.get(), recorder_.get(),
                [this](pid_t child, int status) { complain_of_exit(child, status); }),
      threads_(options_, tracees_, functions_.get(), recorder_.get(), *this) {}

Status PtraceEngine::start(const std::function<void(const std::string&)>& complain) {
  complain_ = complain;
  if (const Status attached = attacher_.attach_all(); !attached) {
    return attached.error();
  }
  if (!options_.launch && tracees_.size() == 0) {
    attacher_.announce(*this);
    return Error{ESRCH, {}};
  }
  return Done{};
}

Result<trace::RunEnd> PtraceEngine::run(trace::EventHandler& handler) {
  waiter_.emplace(options_.interruptible, options_.cpu_time, attacher_.proxy() ? ForegroundProxy::died_signal() : 0);
  handler_ = &handler;
  attacher_.announce(*this);
  attacher_.start_program(*this);
  serve(handler);
  if (recorder_) {
    recorder_->conclude();
  }
  if (functions_) {
    for (const pid_t tid : tracees_.select([](const Tracee& tracee) { return tracee.visible(); })) {
      functions_->conclude(*tracees_.find(tid));
    }
  }
  handler_ = nullptr;
  if (functions_ && functions_->found_nothing()) {
    const std::string_view remedy = options_.as_ltrace ? "" : "; --list-probes=PROG lists what there is";
    complain(fmt::format("no function or probe that is asked for is in the program or its libraries{}", remedy));
  }
  for (const std::string& reason : functions_ ? functions_->why_missed() : std::vector<std::string>()) {
    complain(reason);
  }
  return end_;
}

void PtraceEngine::serve(trace::EventHandler& handler) {
  while (!leaving_ && (tracees_.size() != tracees_.suppressed() || threads_.detach_suppressed())) {
    Outcome outcome = waiter_->next(threads_.next_release(), next_alarm(handler));
    if (auto* report = std::get_if<Report>(&outcome)) {
      on_report(std::move(*report));
      threads_.detach_waiting();
    } else if (const auto* interrupted = std::get_if<Interrupted>(&outcome)) {
      end_.interrupted_by_signal = true;
      end_.interrupting_signal = interrupted->signal;
      if (threads_.may_abandon()) {
        threads_.abandon_stragglers();  // asked twice
      } else if (!threads_.detaches_from_all()) {
        waiter_->ends(interrupted->signal);
        pass_on(interrupted->signal);
        detach_all();
      }
    } else if (std::holds_alternative<Due>(outcome)) {
      threads_.release_due();
      adopt_orphans(std::nullopt);
      collect_recorded();
      if (functions_ && functions_->due()) {
        handler.idle();  // though threads may never be quiet that do not stop
      }
      ring(handler);
      if (recorder_ && threads_.is_tired_of_waiting()) {
        threads_.abandon_stragglers();
      }
    } else if (std::holds_alternative<Quiet>(outcome)) {
      adopt_orphans(std::nullopt);
      collect_recorded();
      handler.idle();
      threads_.detach_waiting();
      if (threads_.is_tired_of_waiting()) {
        // The kernel detaches from threads that cannot stop now, such as a vfork's parent, when we end.
        threads_.abandon_stragglers();
      }
    } else {
      break;
    }
  }
}

std::optional<std::chrono::nanoseconds> PtraceEngine::next_alarm(const trace::EventHandler& handler) const {
  auto alarm = handler.alarm_at();
  const auto include = [&alarm](const std::optional<std::chrono::nanoseconds>& other) {
    alarm = alarm && other ? std::min(*alarm, *other) : alarm ? alarm : other;
  };
  include(recorder_ ? std::optional(recorder_->due()) : std::nullopt);
  include(functions_ ? functions_->due() : std::nullopt);
  include(early_.due());
  return alarm;
}

void PtraceEngine::collect_recorded() {
  if (recorder_) {
    recorder_->collect();
  }
  if (functions_) {
    functions_->collect();
  }
}

void PtraceEngine::ring(trace::EventHandler& handler) {
  const auto alarm = handler.alarm_at();
  if (alarm && *alarm <= clock_now(CLOCK_MONOTONIC) && handler.on_alarm() == trace::Verdict::detach_all) {
    detach_all();
  }
}

void PtraceEngine::detach_all() {
  if (options_.on_leaving) {
    options_.on_leaving();
  }
  if (options_.kill_on_exit) {
    leaving_ = true;  // the kernel kills the tracees when we end
  } else if (threads_.detach_all()) {
    waiter_->expect_reports();
  }
}

bool PtraceEngine::is_launching(const Tracee& tracee) const {
  return tracee.tid() == attacher_.program() && !program_started_;
}

void PtraceEngine::pass_on(int signal) {
  const Tracee* program = options_.signal_program ? tracees_.find(attacher_.program()) : nullptr;
  // A program that we detach from gets no more signals from us, and whoever kills the proxy means none for the program.
  if (program != nullptr && program->visible() && !program->detaching && signal != ForegroundProxy::died_signal()) {
    process::send_ending_signal(program->tid(), signal);
  }
}

void PtraceEngine::on_report(Report report) {
  if (options_.debug) {
    debug_report(options_.debug, report);
  }
  const pid_t tid = report.tid();
  auto* stopped = std::get_if<Stopped>(&report.thread);
  const Stop stop = stopped != nullptr ? stop_of(report.status) : Stop{};
  const bool execed = stopped != nullptr && stop.kind == StopKind::exec;
  const pid_t former = execed ? stopped->event_message().value_or(tid) : tid;
  if (execed) {
    collect_recorded();  // while those that have recorded something have their ids
  } else if (functions_) {
    functions_->collect();  // what came before this
  }
  Tracee* tracee = execed ? find_execed(*stopped, former) : tracees_.find(tid);
  if (tracee == nullptr) {
    on_unknown(std::move(report), stop);
    return;
  }
  if (stopped == nullptr) {
    if (recorder_) {
      recorder_->leave(*tracee);
    }
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
  if (recorder_ && recorder_->on_stop(*tracee, stop)) {
    threads_.resume(*tracee);
    return;
  }
  if (execed) {
    on_exec(*tracee, former);
  }
  on_stop(*tracee, stop);
}

void PtraceEngine::on_unknown(Report report, const Stop& stop) {
  const pid_t tid = report.tid();
  auto* stopped = std::get_if<Stopped>(&report.thread);
  if (stopped != nullptr && stop.kind == StopKind::exit) {
    // It was killed before its parent has reported it. The parent may be dead too, and then nobody else lets the thread
    // end, for which the leader of its process waits.
    early_.forget(tid);
    early_.expect_end(tid);
    static_cast<void>(std::move(*stopped).resume(Resume::to_next_call, 0));
  } else if (stopped == nullptr && (tid == options_.output_reader || early_.is_expected_end(tid))) {
    return;
  } else if (attacher_.follows_children()) {
    early_.keep(std::move(report));  // a child that its parent has not reported yet; or one that is no tracee
  } else if (stopped == nullptr) {
    complain_of_exit(tid, report.status);
  } else {
    // The kernel has attached it to us, as CLONE_PTRACE asks.
    std::move(*stopped).detach(0);
    if (options_.unknown_detached) {
      complain(fmt::format("Detached unknown pid {}", tid));
    }
  }
}

void PtraceEngine::complain_of_exit(pid_t unknown, int status) {
  if (options_.unknown_exits && unknown != options_.output_reader) {
    complain(fmt::format("{} of unknown pid {} ignored", WIFSIGNALED(status) ? "Termination" : "Exit", unknown));
  }
}

void PtraceEngine::on_stop(Tracee& tracee, const Stop& stop) {
  if (std::exchange(tracee.found_running, false)) {
    find_interrupted_call(tracee);
  }
  if (tracee.hidden_untraced && stop.kind != StopKind::fork) {
    restore_untraced(tracee);
  }
  if (functions_ && tracee.visible() && !tracee.detaching && !is_launching(tracee)) {
    functions_->begin(tracee);
  }
  if (tracee.detaching) {
    if (stop.kind == StopKind::fork) {
      on_fork(tracee);
    } else if (stop.kind == StopKind::syscall) {
      pay_result(tracee);
    }
    threads_.finish_detach(tracee, stop.kind == StopKind::signal ? stop.signal : 0);
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
      if (tracee.visible()) {
        emit(tracee, trace::GroupStop{stop.signal});
      }
      threads_.listen(tracee);
      break;
    case StopKind::fork:
      on_fork(tracee);
      threads_.resume(tracee);
      break;
    case StopKind::exit:
      if (recorder_) {
        recorder_->leave(tracee);
      }
      end_call(tracee);
      if (tracee.tgid == init_process && handler_ != nullptr) {
        handler_->idle();
      }
      threads_.resume(tracee);
      break;
    case StopKind::exec:
    case StopKind::interrupted:
    case StopKind::other:
      threads_.resume(tracee);
      break;
  }
}

void PtraceEngine::on_signal(Tracee& tracee, int signal) {
  if (functions_ &&
      ((signal == SIGTRAP && functions_->on_trap(tracee)) || (signal == SIGSEGV && functions_->on_fault(tracee)) ||
       (signal == SIGSTOP && functions_->on_held(tracee)))) {
    threads_.resume(tracee);
    return;
  }
  if (functions_) {
    functions_->put_back(tracee);
  }
  if (tracee.visible()) {
    siginfo_t info;
    report_signal(tracee, signal, stopped_thread(tracee).signal_info(info) ? &info : nullptr);
    if (tracee.detaching) {
      threads_.finish_detach(tracee, signal);
      return;
    }
  }
  threads_.resume(tracee, signal);
}

void PtraceEngine::report_signal(Tracee& tracee, int signal, const siginfo_t* info) {
  trace::SignalStop stop;
  stop.signal = signal;
  if (info != nullptr) {
    stop.siginfo = std::as_bytes(std::span(info, 1));
  }
  if (const auto state = call_states_.of(tracee, false)) {
    stop.instruction_pointer = state->instruction_pointer;
  }
  emit(tracee, stop);
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

void PtraceEngine::emit_past(Tracee& tracee, What what, const trace::EventTime& time, const trace::Memory& memory) {
  if (handler_ == nullptr || !tracee.visible()) {
    return;
  }
  trace::Event event = event_of(tracee, what);
  event.time = time;
  heed(handler_->handle(event, memory), tracee);
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
  heed(handler_->handle(event, tracee.memory), tracee);
}

void PtraceEngine::heed(trace::Verdict verdict, const Tracee& tracee) {
  switch (verdict) {
    case trace::Verdict::go_on:
      break;
    case trace::Verdict::detach:
      threads_.detach_process(tracee.tgid);
      break;
    case trace::Verdict::detach_all:
      detach_all();
      break;
  }
}

void PtraceEngine::on_recorded(pid_t tid, trace::Event& event, const trace::Memory& memory) {
  Tracee* tracee = tracees_.find(tid);
  if (tracee == nullptr || !tracee->visible() || handler_ == nullptr || leaving_) {
    return;
  }
  tracee->call_reported = std::holds_alternative<trace::SyscallEnter>(event.what);
  event.tid = tid;
  event.tgid = tracee->tgid;
  heed(handler_->handle(event, memory), *tracee);
}

void PtraceEngine::on_recorded(const trace::FunctionRecorder::Hit& hit) {
  if (functions_ && !leaving_) {
    functions_->on_recorded(hit);
  }
}

void PtraceEngine::on_damaged(pid_t tid) {
  complain(
      fmt::format("thread {}: what it recorded was overwritten and is lost in part; its calls stop from now on", tid));
  if (handler_ != nullptr) {
    handler_->lost(1);
  }
}

void PtraceEngine::on_left(Tracee& tracee, const trace::SyscallExit& exit) {
  if (std::exchange(tracee.call_reported, false)) {
    emit(tracee, exit);
  }
}

void PtraceEngine::on_counted(std::span<const trace::CallTotals> calls) {
  if (handler_ != nullptr) {
    handler_->totals(calls);
  }
}

void PtraceEngine::finish(int wait_status) {
  if (!attacher_.has_filter() || tracees_.size() == 0 || options_.kill_on_exit) {
    return;
  }
  // From here on nobody may notice us: not the terminal, nor a reader that waits for the end of our output.
  waiter_->ignore_signals();
  if (attacher_.proxy()) {
    attacher_.proxy()->end(wait_status);
  }
  ::setsid();
  [[maybe_unused]] const int moved = ::chdir("/");
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null.get(), standard);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  while (tracees_.size() != 0) {
    Outcome outcome = waiter_->next();
    if (auto* report = std::get_if<Report>(&outcome)) {
      on_report(std::move(*report));
    } else if (std::holds_alternative<NothingLeft>(outcome)) {
      break;
    } else {
      adopt_orphans(std::nullopt);
    }
  }
  ::_exit(0);
}

}  // namespace tracer::ptrace
