// The engine behind make_ptrace_engine(). Private to this directory.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ptrace/engine.h"
#include "ptrace/foreground_proxy.h"
#include "ptrace/function_hooks.h"
#include "ptrace/launch.h"
#include "ptrace/seccomp_filter.h"
#include "ptrace/tracee.h"
#include "ptrace/waiter.h"

namespace tracer::ptrace {

class PtraceEngine final : public trace::Engine, private EventSink {
 public:
  PtraceEngine(process::EngineOptions options, const MakeFunctionHooks& functions);
  ~PtraceEngine() override;

  /// Launches and attaches.
  Status start(const std::function<void(const std::string&)>& complain);

  Result<trace::RunEnd> run(trace::EventHandler& handler) override;
  void finish(int wait_status) override;

 private:
  // Starting.
  struct Requested {
    pid_t tid;
    unsigned threads;
    std::string failure;  ///< why it could not be attached; empty if it was
  };
  Status attach_thread(pid_t tid, pid_t tgid, unsigned threads);
  Status attach_process(pid_t pid);
  [[nodiscard]] bool all_threads_are_ours(pid_t tgid);
  /// Tells what became of each request, in their order.
  void announce_attached();
  void choose_filter();
  void start_program();
  [[nodiscard]] unsigned ptrace_options() const;
  /// -d: what works here, tried with a child that is thrown away.
  void debug_kernel() const;
  void debug_report(const Report& report) const;

  void serve(trace::EventHandler& handler);
  void ring(trace::EventHandler& handler);
  /// See EngineOptions::signal_program.
  void pass_on(int signal);

  // One report of the kernel. The tracee may be gone from the table afterwards.
  void on_report(Report report);
  void on_stop(Tracee& tracee, const Stop& stop);
  void on_call_stop(Tracee& tracee, bool by_seccomp);
  void on_entry(Tracee& tracee, const CallState& state);
  void on_exit(Tracee& tracee, const CallState& state);
  void on_signal(Tracee& tracee, int signal);
  void on_group_stop(Tracee& tracee, int signal);
  void on_fork(Tracee& parent);
  /// The tracee that has become another program, and whose id was `former` until then; null if it is not known.
  Tracee* find_execed(const Stopped& thread, pid_t former);
  void on_exec(Tracee& tracee, pid_t former);
  void on_end(Tracee& tracee, int status);
  void adopt(pid_t tid, pid_t tgid, Tracee* parent, const std::optional<HiddenFlag>& untraced = std::nullopt);
  /// Takes in the children whose creator was killed, or ended by the execve of process `execed`, before it told of
  /// them.
  void adopt_orphans(std::optional<pid_t> execed);

  std::optional<CallState> call_state(Tracee& tracee, bool by_seccomp);

  // What goes out, and going on.
  static trace::Event event_of(const Tracee& tracee, What what);
  void emit(Tracee& tracee, What what) override;
  void emit_for(pid_t tid, const Tracee& stopped, What what) override;
  void complain(const std::string& sentence) override;
  /// `stopped`: whose stack the event is about.
  void hand_out(const Tracee& tracee, trace::Event event, const Tracee& stopped);
  void end_call(Tracee& tracee);
  void resume(Tracee& tracee, int signal = 0);
  void listen(Tracee& tracee);

  // Tampering.
  void tamper_at_entry(Tracee& tracee, trace::Event& entry);
  /// Changes `state` to what the thread will see.
  void tamper_at_exit(Tracee& tracee, CallState& state);
  static void poke(Tracee& tracee, const std::vector<trace::Poke>& pokes);
  /// Puts the result in that the thread's call owes, if it does.
  static void pay_result(Tracee& tracee);
  /// As resume(), but after `delay`.
  void resume_after(Tracee& tracee, std::optional<std::chrono::nanoseconds> delay, int signal);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_release() const;
  void release(Tracee& tracee);
  void release_due();

  // Children that are not to be traced.
  /// At the entry of a call.
  static void hide_untraced(Tracee& tracee, const CallState& entry);
  /// At the first stop after that, of the thread and of its child.
  static void restore_untraced(Tracee& tracee);
  static void inherit_untraced(const HiddenFlag& parents, Tracee& child);

  // Functions.
  /// Begins to let those go that are silent because of our breakpoints. Whether there are any left.
  bool must_free_suppressed();

  // Letting go.
  void begin_detach(pid_t tgid);
  void let_go(Tracee& tracee);
  void begin_detach_all();
  void finish_detach(Tracee& tracee, int signal);
  void abandon_stragglers();

  process::EngineOptions options_;
  bool call_info_works_ = true;
  TraceeTable tracees_;
  std::map<pid_t, Report> early_;     ///< of children that their parent has not reported yet
  std::vector<Requested> requested_;  ///< not announced yet
  std::function<void(const std::string&)> complain_;
  std::vector<sock_filter> filter_;  ///< what the launched program has; often empty
  std::optional<Launched> launched_;
  std::optional<ForegroundProxy> proxy_;
  std::optional<Waiter> waiter_;
  pid_t program_ = 0;
  bool program_started_ = false;
  trace::EventHandler* handler_ = nullptr;  ///< during run()
  bool detaching_all_ = false;
  /// When to look at which thread; it may be gone by then, or held no longer.
  std::multimap<std::chrono::nanoseconds, pid_t> held_;
  std::unique_ptr<FunctionHooks> functions_;  ///< null: no functions are traced
  trace::RunEnd end_;
};

}  // namespace tracer::ptrace
