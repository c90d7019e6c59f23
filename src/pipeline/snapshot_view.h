// What --explain looks up about a process that the engine did not stop: the state that was captured at the event.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "explain/system_view.h"
#include "trace/task_snapshot.h"

namespace tracer::pipeline {

/// Opens the root directories of tracees and keeps them open: later events need them when the process has ended.
class SnapshotRoots {
 public:
  SnapshotRoots();

  /// Returns the root directory of `tid` that a snapshot names; a null pointer: it is the tracer's own.
  std::shared_ptr<explain::Root> find(pid_t tid, const trace::TaskState::Root& root);

 private:
  static constexpr std::size_t most_roots = 64;                            ///< each of them keeps two descriptors open
  using RootName = std::tuple<std::uint64_t, std::string, std::uint64_t>;  ///< mount namespace, path, inode

  [[nodiscard]] bool is_own(const trace::TaskState::Root& root) const;
  [[nodiscard]] std::shared_ptr<explain::Root> open(pid_t tid, const trace::TaskState::Root& root) const;

  trace::TaskState::Root own_;  ///< the root directory of the tracer, without its path
  std::map<RootName, std::shared_ptr<explain::Root>> roots_;
};

/// The state of one task at one event.
class SnapshotView final : public explain::SystemView {
 public:
  /// `snapshot`: null if the task is stopped; then `live` has its state. All outlive this.
  SnapshotView(const trace::TaskSnapshot* snapshot, explain::SystemView& live, SnapshotRoots& roots)
      : then_(snapshot == nullptr ? nullptr : &snapshot->state()), live_(live), roots_(roots) {}

  std::string current_directory(pid_t tid) override;
  std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) override;
  std::optional<explain::Snapshot> snapshot(pid_t tid) override;
  std::vector<proc::MappedRange> mappings(pid_t tid) override;
  std::optional<std::shared_ptr<explain::Root>> root(pid_t tid) override;
  std::uint64_t stack_pointer(pid_t tid) override;
  std::string environment(pid_t tid) override { return live_.environment(tid); }

 private:
  const trace::TaskState* then_;
  explain::SystemView& live_;
  SnapshotRoots& roots_;
};

}  // namespace tracer::pipeline
