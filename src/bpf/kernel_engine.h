// What engines share whose programs watch from inside the kernel: whom they watch, and until when. Private to this
// folder.
#pragma once

#include <map>
#include <optional>

#include "bpf/engine.h"
#include "bpf/kernel_programs.h"
#include "bpf/threads.h"
#include "process/signal_watch.h"
#include "process/start_program.h"

namespace tracer {

class KernelEngine : public Engine {
 public:
  KernelEngine(EngineOptions options, std::function<void(const std::string&)> complain, KernelPrograms programs);
  ~KernelEngine() override;

 protected:
  // load(), in parts.
  Status choose_threads(thread_settings& settings);
  Status watch_threads(thread_shared& shared);

  /// Starts the program up to its gate, and attaches to processes.
  Status start();
  void attach_processes();
  /// When to look for reports again.
  enum class Next : std::uint8_t {
    now,
    soon,       ///< the programs are busy and wake nobody
    when_told,  ///< they will make `reports` readable
  };
  /// Serves until all that is watched has ended or a signal comes.
  void serve(const SignalWatch& signals, int reports);
  /// Handles what the programs have reported, or a part of it.
  virtual Next take_reports() = 0;
  /// All the rest, as nothing more will come; as long as `go_on` says so.
  virtual void take_rest(const std::function<bool()>& go_on) = 0;
  void on_birth(pid_t tid, pid_t tgid, pid_t parent, std::optional<EventTime> time = std::nullopt);
  void hand_out(const Event& event, const Memory& memory);
  void hand_out(pid_t tid, pid_t tgid, decltype(Event::what) what);
  void complain_of_losses();

  EngineOptions options_;
  std::function<void(const std::string&)> complain_;
  KernelPrograms programs_;
  EventHandler* handler_ = nullptr;  ///< during run()
  std::map<pid_t, pid_t> tracees_;   ///< threads that have been announced, and their processes
  RunEnd end_;
  bool detaching_ = false;  ///< the handler wants it

 private:
  /// Watches the threads with this id from now on; how many there are.
  Result<unsigned> adopt(pid_t id, bool with_threads, bool launching);
  Status fill_cgroups() const;
  void attach_process(pid_t pid);
  /// Looks whether the program has ended.
  void reap_program();
  void let_go();

  thread_shared* shared_ = nullptr;
  std::optional<StartedProgram> program_;
  bool program_runs_ = false;
};

}  // namespace tracer
