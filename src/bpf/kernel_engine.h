// The common part of the counting and the tracing engine: which processes they watch, and until when.
// Private to this directory.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "bpf/engine.h"
#include "bpf/kernel_programs.h"
#include "bpf/threads.h"
#include "proc/cgroups/slots.h"
#include "process/signal_watch.h"
#include "process/start_program.h"

namespace tracer::bpf {

/// As the programs in the kernel look them up.
call_set call_set_of(const trace::WantedCalls& calls);

class KernelEngine : public trace::Engine {
 public:
  KernelEngine(process::EngineOptions options, std::function<void(const std::string&)> complain,
               KernelPrograms programs);
  ~KernelEngine() override;

  Result<trace::RunEnd> run(trace::EventHandler& handler) final;

 protected:
  // load(), in parts.
  Status choose_threads(thread_settings& settings);
  Status watch_threads(thread_shared& shared);

  /// When to look for reports again.
  enum class Next : std::uint8_t {
    now,
    soon,        ///< the programs are busy and wake nobody
    when_woken,  ///< they will make `reports` readable
  };
  /// A descriptor that becomes readable with reports of the programs.
  [[nodiscard]] virtual int reports() const = 0;
  /// How long `Next::soon` is.
  [[nodiscard]] virtual int nap_milliseconds() const = 0;
  /// Handles what the programs have reported, or a part of it.
  virtual Next take_reports() = 0;
  /// All the rest, as nothing more will come; as long as `go_on` says so.
  virtual void take_rest(const std::function<bool()>& go_on) = 0;
  /// Reports what is known at the end; the programs do not run any more.
  virtual void conclude() = 0;
  void on_fork(pid_t tid, pid_t tgid, pid_t parent, std::optional<trace::EventTime> time = std::nullopt);
  /// Of an event that has captured none.
  [[nodiscard]] virtual const trace::Memory& no_memory() const { return no_memory_; }
  void hand_out(const trace::Event& event, const trace::Memory& memory);
  void hand_out(pid_t tid, pid_t tgid, decltype(trace::Event::what) what);

  process::EngineOptions options_;
  std::function<void(const std::string&)> complain_;
  KernelPrograms programs_;
  trace::EventHandler* handler_ = nullptr;   ///< during run()
  std::chrono::nanoseconds clock_offset_{};  ///< kernel_clock_offset(), once threads are watched
  std::map<pid_t, pid_t> tracees_;           ///< threads that have been announced, and their processes
  trace::RunEnd end_;
  bool detaching_ = false;
  bool reporting_ended_ = false;  ///< the handler wants to know that its tracees are detached, and nothing else

 private:
  /// Watches the threads with this id from now on; how many there are.
  Result<unsigned> adopt(pid_t id, bool with_threads, bool launching);
  Status fill_cgroup(std::size_t slot, const UniqueFd& group) const;
  /// Starts the program up to its gate, and attaches to processes.
  Status start();
  void attach_processes();
  void attach_process(pid_t pid);
  /// Serves until all that is watched has ended or a signal comes.
  void serve(process::SignalWatch& signals);
  /// The handler's alarm, if it is time for it.
  void ring_alarm();
  /// How long to wait for reports, at most.
  [[nodiscard]] int sleep_milliseconds() const;
  void complain_of_losses();
  /// Whether /proc still has one of those that we watch. A thread that was on its way out when it was adopted may have
  /// passed the place where the programs count ends, and would be waited for for ever.
  [[nodiscard]] bool anyone_left() const;
  /// Looks whether the program has ended.
  void reap_program();
  void let_go();

  const trace::NoMemory no_memory_;
  thread_shared* shared_ = nullptr;
  std::optional<process::StartedProgram> program_;
  bool program_runs_ = false;
  proc::cgroups::Slots groups_;
};

}  // namespace tracer::bpf
