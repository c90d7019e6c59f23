// The processes and threads that live at a time of the run, and whose children they are.
#pragma once

#include <memory>
#include <unordered_map>

#include "pipeline/exports/exporter.h"

namespace tracer::pipeline::exports {

/// Tells an exporter who appears and who goes. Memory is held for the living only.
class ProcessTable {
 public:
  explicit ProcessTable(Exporter& exporter) : exporter_(exporter) {}

  Thread& appears(pid_t tid, pid_t tgid, std::string_view command, Time time);
  /// The thread, which appeared before and has not gone.
  Thread& of(pid_t tid);
  void forks(pid_t parent, pid_t child, bool is_thread, Time time);
  /// An execve gave the thread the id of its thread group leader. Returns what it was, which the caller passes to
  /// retire() when that call has ended.
  [[nodiscard]] std::unique_ptr<Thread> supersede(pid_t former);
  void retire(std::unique_ptr<Thread> former);
  /// `environment` is the new program's, in bytes of the tracee; empty: unknown.
  void executes(pid_t tid, std::string_view command, Exec exec, std::vector<std::string> environment);
  void goes(pid_t tid);

 private:
  using Environment = std::shared_ptr<const std::vector<std::string>>;  ///< null: unknown
  struct Living {
    Process process;
    Environment environment;
  };
  struct Parent {
    std::uint64_t id = 0;
    Environment environment;
  };

  void release(Process& process, Time time);

  Exporter& exporter_;
  std::unordered_map<pid_t, std::unique_ptr<Thread>> threads_;
  std::unordered_map<pid_t, Living> processes_;  ///< by their pid
  std::unordered_map<pid_t, Parent> parents_;    ///< of children that have not appeared
  std::uint64_t last_process_ = 0;
  std::uint64_t last_thread_ = 0;
};

/// Returns what turns one environment into the other but for the variable `_`, in the notation of
/// Exec::environment_changes, sorted by name.
[[nodiscard]] std::vector<std::string> environment_changes(const std::vector<std::string>& before,
                                                           const std::vector<std::string>& after);

}  // namespace tracer::pipeline::exports
