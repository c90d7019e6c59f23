// Looks at the machine after the run: paths component by component, permissions, mounts. Read-only; everything may
// have changed since, so it never contradicts the trace.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

struct Component {
  std::string path;  ///< as the process sees it
  struct stat info {};
  std::string target;  ///< of a symbolic link
};

/// A path from the root on, links followed.
struct Walk {
  std::vector<Component> components;
  int error = 0;         ///< 0: it is there; ENOENT, ENOTDIR, ELOOP, EACCES
  std::string stopped;   ///< the component that is missing or no folder, after links
  std::string real;      ///< without links, if it is there
  std::string dangling;  ///< the last link on the way, if what it leads to is missing

  bool unknown = false;  ///< nothing tells where it begins: a recorded run, or a root folder that is gone

  [[nodiscard]] bool exists() const { return error == 0; }
  [[nodiscard]] const struct stat& info() const { return components.back().info; }
};

enum class Access : unsigned { execute = 1, write = 2, read = 4 };

class Prober {
 public:
  explicit Prober(const Process& process) : process_(process) {}

  /// Whose rights count: those that the process had at this step, where they are known; nullptr: those that it had
  /// last.
  void turn_to(const Step* step) { step_ = step; }
  [[nodiscard]] const std::optional<Snapshot>& snapshot() const {
    return step_ != nullptr && step_->snapshot ? *step_->snapshot : process_.snapshot;
  }

  [[nodiscard]] Walk walk(const std::string& path) const;
  /// Where a path of the process is for us; empty if it is relative to a folder that is not known.
  [[nodiscard]] std::string here(const std::string& path) const;
  [[nodiscard]] bool exists(const std::string& path) const { return walk(path).exists(); }
  /// By mode bits, owner, groups and capabilities of the process when it was last looked at.
  [[nodiscard]] bool may(const struct stat& info, Access access) const;
  [[nodiscard]] bool has_capability(unsigned number) const;
  [[nodiscard]] std::string user() const;  ///< "user www-data (33)"
  /// The first folder on the way that may not be entered, nullptr if all may.
  [[nodiscard]] const Component* closed_folder(const Walk& walk) const;
  /// "mode 0755, owner root"
  [[nodiscard]] static std::string describe(const struct stat& info);
  /// Mount options of what holds a path: "ro,noexec"; and the mount point.
  struct Mount {
    std::string point;
    std::string type;
    bool read_only = false;
    bool no_execute = false;
    bool no_suid = false;
  };
  [[nodiscard]] Mount mount(const std::string& path) const;
  /// What nobody may change, whatever its mode: chattr +i or +a.
  [[nodiscard]] bool is_immutable(const std::string& path) const;
  /// Whether it belongs to the kernel's own file systems (proc, sysfs, …), in which nobody makes anything.
  [[nodiscard]] bool is_kernels(const std::string& path) const;
  /// Names in a folder that look like `wanted`.
  [[nodiscard]] std::vector<std::string> similar(const std::string& folder, const std::string& wanted) const;
  /// What there is on the way, one sentence: "/etc exists; /etc/server exists, mode 0755, owner root"
  [[nodiscard]] std::string sketch(const Walk& walk) const;
  [[nodiscard]] const Process& process() const { return process_; }

 private:
  [[nodiscard]] bool knows_root() const { return process_.root == nullptr || process_.root->known; }

  const Process& process_;
  const Step* step_ = nullptr;
};

std::string base_name(const std::string& path);
std::string user_name(unsigned id);
/// `1.5 GiB`
std::string spell_bytes(std::uint64_t bytes);

}  // namespace tracer::explain
