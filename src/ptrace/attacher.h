// How tracees come in: the program that is launched, and the processes that run already.
#pragma once

#include <linux/filter.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/engine_options.h"
#include "ptrace/call_recorder.h"
#include "ptrace/foreground_proxy.h"
#include "ptrace/function_hooks.h"
#include "ptrace/launch.h"
#include "ptrace/tracee.h"

namespace tracer::ptrace {

class Attacher {
 public:
  /// `functions`: null if no functions are traced. `recorder`: null if all calls that are wanted stop.
  /// `on_unknown_end`: what the foreground proxy calls when a child of its own ends that is no tracee.
  Attacher(const process::EngineOptions& options, TraceeTable& tracees, FunctionHooks* functions,
           const CallRecorder* recorder, std::function<void(pid_t, int)> on_unknown_end)
      : options_(options),
        tracees_(tracees),
        functions_(functions),
        recorder_(recorder),
        on_unknown_end_(std::move(on_unknown_end)) {}

  /// Starts the program, up to its execve, and attaches to the processes that are to be attached.
  Status attach_all();
  /// Reports the processes that are attached, and complains of those that could not be, in the order of the requests.
  void announce(EventSink& sink);
  /// Lets the program go on to its execve, if there is one.
  void start_program(EventSink& sink);

  /// 0: there is none.
  [[nodiscard]] pid_t program() const { return program_; }
  /// Whether the program has a seccomp filter of ours.
  [[nodiscard]] bool has_filter() const { return !filter_.empty(); }
  /// Whether the kernel attaches the children of tracees, which their parents report then.
  [[nodiscard]] bool follows_children() const {
    return options_.follow_forks || watches_whole_processes() || !filter_.empty();
  }
  /// Whether all threads of a process have to be ours, as there is something of ours in their common memory.
  [[nodiscard]] bool watches_whole_processes() const { return functions_ != nullptr || recorder_ != nullptr; }
  /// Whether -p shows all threads of a process, not just the one that was named.
  [[nodiscard]] bool shows_whole_processes() const {
    return options_.follow_forks || options_.as_ltrace || functions_ != nullptr;
  }
  [[nodiscard]] std::optional<ForegroundProxy>& proxy() { return proxy_; }

 private:
  struct Requested {
    pid_t tid;
    unsigned threads;
    std::string failure;  ///< why it could not be attached; empty if it was
    std::string hint;     ///< what may be the cause of that; may be empty
  };

  Status choose_filter();
  [[nodiscard]] unsigned ptrace_options() const;
  Status launch_program();
  Status attach_thread(pid_t tid, pid_t tgid, unsigned threads, Visibility visibility);
  Status attach_process(pid_t pid);
  /// Attaches to the threads of the process that are not attached yet, which counts as part of the request `first`.
  void attach_more_threads(pid_t tgid, std::size_t first);
  /// As breakpoints kill a thread without us, all threads of the process must be ours.
  void claim_all_threads(pid_t tgid, std::size_t first);
  /// Those that the kernel has attached for us among them.
  [[nodiscard]] bool all_threads_are_ours(pid_t tgid);

  const process::EngineOptions& options_;
  TraceeTable& tracees_;
  FunctionHooks* functions_;
  const CallRecorder* recorder_;
  std::function<void(pid_t, int)> on_unknown_end_;
  std::vector<Requested> requested_;  ///< not announced yet
  std::vector<sock_filter> filter_;   ///< what the launched program has; often empty
  std::optional<Launched> launched_;
  std::optional<ForegroundProxy> proxy_;
  pid_t program_ = 0;
};

}  // namespace tracer::ptrace
