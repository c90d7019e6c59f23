// The engine behind make_ptrace_engine(). Private to this directory.
#pragma once

#include <memory>
#include <optional>

#include "ptrace/attacher.h"
#include "ptrace/call_recorder.h"
#include "ptrace/call_states.h"
#include "ptrace/early_reports.h"
#include "ptrace/engine.h"
#include "ptrace/function_hooks.h"
#include "ptrace/thread_control.h"
#include "ptrace/tracee.h"
#include "ptrace/waiter.h"

namespace tracer::ptrace {

class PtraceEngine final : public trace::Engine, private EventSink, private RecordedCalls {
 public:
  PtraceEngine(process::EngineOptions options, const MakeFunctionHooks& functions, const MakeCallRecorder& recorder);

  /// Launches and attaches.
  Status start(const std::function<void(const std::string&)>& complain);

  Result<trace::RunEnd> run(trace::EventHandler& handler) override;
  void finish(int wait_status) override;

 private:
  void serve(trace::EventHandler& handler);
  void ring(trace::EventHandler& handler);
  /// When the handler or a recorder wants to be asked.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_alarm(const trace::EventHandler& handler) const;
  void collect_recorded();
  /// See EngineOptions::signal_program.
  void pass_on(int signal);
  /// Starts to detach from all tracees, or ends tracing at once where they are to be killed.
  void detach_all();
  /// Whether this is the program before its execve.
  [[nodiscard]] bool is_launching(const Tracee& tracee) const;

  // One report of the kernel. The tracee may be gone from the table afterwards.
  void on_report(Report report);
  /// The report of a child that is no tracee, or not yet.
  void on_unknown(Report report, const Stop& stop);
  void complain_of_exit(pid_t unknown, int status);
  void on_stop(Tracee& tracee, const Stop& stop);
  void on_call_stop(Tracee& tracee, bool by_seccomp);
  void on_entry(Tracee& tracee, const CallState& state);
  void on_exit(Tracee& tracee, const CallState& state);
  void on_signal(Tracee& tracee, int signal);
  void on_fork(Tracee& parent);
  /// The tracee that has become another program, and whose id was `former` until then; null if it is not known.
  Tracee* find_execed(const Stopped& thread, pid_t former);
  void on_exec(Tracee& tracee, pid_t former);
  void on_end(Tracee& tracee, int status);
  void adopt(pid_t tid, pid_t tgid, Tracee* parent, const std::optional<HiddenFlag>& untraced = std::nullopt);
  /// Takes in the children that no tracee will report; see EarlyReports::orphans().
  void adopt_orphans(std::optional<pid_t> execed);

  // What the handler gets.
  static trace::Event event_of(const Tracee& tracee, What what);
  void emit(Tracee& tracee, What what) override;
  void emit_for(pid_t tid, const Tracee& stopped, What what) override;
  void emit_past(Tracee& tracee, What what, const trace::EventTime& time, const trace::Memory& memory) override;
  [[nodiscard]] Tracee* find(pid_t tid) override { return tracees_.find(tid); }
  [[nodiscard]] CallRecorder* recorder() override { return recorder_.get(); }
  void complain(const std::string& sentence) override;
  [[nodiscard]] const std::function<void(const std::string&)>& debug() const override { return options_.debug; }
  /// `stopped`: the thread whose stack belongs to the event.
  void hand_out(const Tracee& tracee, trace::Event event, const Tracee& stopped);
  void on_recorded(pid_t tid, trace::Event& event, const trace::Memory& memory) override;
  void on_recorded(const trace::FunctionRecorder::Hit& hit) override;
  void on_damaged(pid_t tid) override;
  void on_left(Tracee& tracee, const trace::SyscallExit& exit) override;
  void on_counted(std::span<const trace::CallTotals> calls) override;
  void report_signal(Tracee& tracee, int signal, const siginfo_t* info) override;
  [[nodiscard]] Tracee* find_tracee(pid_t tid) override { return tracees_.find(tid); }
  void heed(trace::Verdict verdict, const Tracee& tracee);
  void end_call(Tracee& tracee);

  process::EngineOptions options_;
  TraceeTable tracees_;
  std::unique_ptr<FunctionHooks> functions_;  ///< null: no functions are traced
  std::unique_ptr<CallRecorder> recorder_;    ///< null: all calls that are wanted stop
  Attacher attacher_;
  ThreadControl threads_;
  CallStates call_states_;
  EarlyReports early_;
  std::function<void(const std::string&)> complain_;
  std::optional<Waiter> waiter_;
  bool program_started_ = false;
  bool leaving_ = false;                    ///< tracing ends although there are tracees
  trace::EventHandler* handler_ = nullptr;  ///< during run()
  trace::RunEnd end_;
};

}  // namespace tracer::ptrace
