// What is known of a process while an event of it is being handled: afterwards it may be gone. Read-only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "proc/memory_map.h"

namespace tracer::explain {

/// A process as it was at one moment. Members are empty where the machine does not tell.
struct Snapshot {
  std::string status;         ///< /proc/PID/status
  std::string limits;         ///< /proc/PID/limits
  std::string cgroup;         ///< path of its control group (version 2)
  std::string memory_cgroup;  ///< of that for memory, where version 1 is in use
  std::string security_label;
  std::string executable;
  std::optional<std::size_t> descriptors;  ///< how many are open
  /// Whether the same was allowed to it: ids, capabilities, seccomp and limits.
  [[nodiscard]] bool same_rights(const Snapshot& other) const;
  /// Takes over what a later look knows.
  void update(Snapshot later);
  /// The line of `status` that begins with `key`, without it.
  [[nodiscard]] std::string field(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint64_t> id(std::string_view key, unsigned column) const;
  /// The soft limit of that name ("Max open files"); empty: unlimited or unknown.
  [[nodiscard]] std::optional<std::uint64_t> limit(std::string_view name) const;
};

/// The root folder that a process sees, kept open so that it can be looked at when the process is gone.
struct Root {
  bool known = true;  ///< false: it is not ours, and could not be opened
  UniqueFd folder;
  UniqueFd mounts;     ///< keeps the mount namespace alive
  std::string prefix;  ///< before an absolute path of the process: its place for us; empty: the same as ours
};

/// What cannot be told is empty.
class Surroundings {
 public:
  Surroundings() = default;
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  virtual ~Surroundings() = default;

  virtual std::string current_directory(pid_t tid) = 0;
  /// What it leads to; empty: nothing with a name.
  virtual std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) = 0;
  virtual std::optional<Snapshot> snapshot(pid_t tid) = 0;
  virtual std::vector<proc::MappedRange> mappings(pid_t tid) = 0;
  /// A null pointer: the same as ours.
  virtual std::optional<std::shared_ptr<Root>> root(pid_t tid) = 0;
  virtual std::uint64_t stack_pointer(pid_t tid) = 0;  ///< 0: unknown
};

/// Over this machine's /proc.
class ProcSurroundings final : public Surroundings {
 public:
  ProcSurroundings();
  std::string current_directory(pid_t tid) override;
  std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) override;
  std::optional<Snapshot> snapshot(pid_t tid) override;
  std::vector<proc::MappedRange> mappings(pid_t tid) override;
  std::optional<std::shared_ptr<Root>> root(pid_t tid) override;
  std::uint64_t stack_pointer(pid_t tid) override;

 private:
  std::string own_mounts_;
  std::shared_ptr<Root> last_other_;
  std::string last_other_name_;
};

}  // namespace tracer::explain
