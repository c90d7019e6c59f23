// What explain looks up about a process while an event of it is handled: afterwards the process may be gone.
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

/// The state of a process at one moment. Members that are unknown are empty.
struct Snapshot {
  std::string status;         ///< /proc/PID/status
  std::string limits;         ///< /proc/PID/limits
  std::string cgroup;         ///< path of its control group (version 2)
  std::string memory_cgroup;  ///< of that for memory, where version 1 is in use
  std::string security_label;
  std::string executable;
  std::string user_namespace;              ///< "user:[4026531837]"
  std::optional<std::size_t> descriptors;  ///< how many are open
  std::optional<std::size_t> mappings;     ///< how many it had when memory was refused it
  /// How many processes of its control group the kernel had killed for want of memory before the run; 0: unknown.
  std::uint64_t killed_for_memory = 0;
  /// Returns how many that are now.
  [[nodiscard]] std::uint64_t killed_for_memory_now() const;
  /// Reads a file of its control group, version 2.
  [[nodiscard]] std::string control_group_file(std::string_view name) const;
  /// Reads a file of its memory control group, version 1.
  [[nodiscard]] std::string memory_group_file(std::string_view name) const;
  /// Returns whether ids, capabilities, seccomp and limits are equal.
  [[nodiscard]] bool same_rights(const Snapshot& other) const;
  /// Takes over what a later snapshot knows.
  void update(Snapshot later);
  /// Returns the line of `status` that starts with `key`, without the key.
  [[nodiscard]] std::string field(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint64_t> id(std::string_view key, unsigned column) const;
  /// Returns the soft limit of that name ("Max open files"); empty: unlimited or unknown.
  [[nodiscard]] std::optional<std::uint64_t> limit(std::string_view name) const;
};

/// The root directory of a process, kept open so that it can be looked at when the process is gone.
struct Root {
  bool known = true;  ///< false: it is not the tracer's, and could not be opened
  UniqueFd directory;
  UniqueFd mounts;     ///< keeps the mount namespace alive
  std::string prefix;  ///< leads from the tracer's root to this one; empty: they are the same
};

/// What can be looked up about a thread at an event. Results are empty where it is unknown.
class SystemView {
 public:
  SystemView() = default;
  SystemView(const SystemView&) = delete;
  SystemView& operator=(const SystemView&) = delete;
  virtual ~SystemView() = default;

  virtual std::string current_directory(pid_t tid) = 0;
  /// Returns the path of a descriptor.
  virtual std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) = 0;
  virtual std::optional<Snapshot> snapshot(pid_t tid) = 0;
  virtual std::vector<proc::MappedRange> mappings(pid_t tid) = 0;
  /// A null pointer: the same root as the tracer's.
  virtual std::optional<std::shared_ptr<Root>> root(pid_t tid) = 0;
  virtual std::uint64_t stack_pointer(pid_t tid) = 0;  ///< 0: unknown
  /// Returns the first 64 KiB of the environment that the program was started with: `name=value`, each ended by NUL.
  virtual std::string environment(pid_t tid) = 0;
};

/// The current state, from /proc.
class ProcSystemView final : public SystemView {
 public:
  ProcSystemView();
  std::string current_directory(pid_t tid) override;
  std::optional<std::string> descriptor(pid_t tid, std::int64_t fd) override;
  std::optional<Snapshot> snapshot(pid_t tid) override;
  std::vector<proc::MappedRange> mappings(pid_t tid) override;
  std::optional<std::shared_ptr<Root>> root(pid_t tid) override;
  std::uint64_t stack_pointer(pid_t tid) override;
  std::string environment(pid_t tid) override;

 private:
  std::string own_mounts_;
  std::string own_cgroup_;
  std::string own_memory_cgroup_;
  std::uint64_t killed_before_ = 0;  ///< in these groups, for want of memory
  std::shared_ptr<Root> last_other_;
  std::string last_other_name_;
};

}  // namespace tracer::explain
