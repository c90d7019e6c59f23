// What --explain sees of a process when the engine did not stop it: what was captured at the time of the event.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "explain/surroundings.h"
#include "trace/circumstances.h"

namespace tracer::pipeline {

class PastSurroundings final : public explain::Surroundings {
 public:
  /// `live` is asked where nothing was captured because the thread stands still. It outlives this.
  explicit PastSurroundings(explain::Surroundings& live);

  /// The event that is being handled: Event::circumstances.
  void turn_to(const trace::Circumstances* then) { then_ = then; }

  std::string current_directory(pid_t tid) override;
  std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) override;
  std::optional<explain::Snapshot> snapshot(pid_t tid) override;
  std::vector<proc::MappedRange> mappings(pid_t tid) override;
  std::optional<std::shared_ptr<explain::Root>> root(pid_t tid) override;
  std::uint64_t stack_pointer(pid_t tid) override;

 private:
  static constexpr std::size_t most_roots = 64;  ///< kept open; each of them is two descriptors
  using RootName = std::tuple<std::uint64_t, std::string, std::uint64_t>;  ///< mount namespace, path, inode

  [[nodiscard]] bool is_ours(const trace::Circumstances::Root& root) const;
  [[nodiscard]] std::shared_ptr<explain::Root> open_root(pid_t tid, const trace::Circumstances::Root& root) const;

  explain::Surroundings& live_;
  const trace::Circumstances* then_ = nullptr;
  trace::Circumstances::Root own_;  ///< the tracer's; its path is not known
  std::map<RootName, std::shared_ptr<explain::Root>> roots_;
};

}  // namespace tracer::pipeline
