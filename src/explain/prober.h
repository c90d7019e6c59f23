// Examines the machine after the run, without changing it: path resolution, permissions, mounts. The trace takes
// precedence, because everything may have changed since.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "explain/story.h"
#include "proc/tracee_file.h"

namespace tracer::explain {

/// The attributes of a file, with the list of system.posix_acl_access(5) that qualifies the mode; empty: it has none.
struct FileInfo : stat {
  std::string access_list;
};

struct Component {
  std::string path;  ///< as the process sees it
  FileInfo info{};
  std::string target;  ///< target of a symbolic link; empty for other files
};

/// The resolution of a path from the root directory, with symbolic links followed.
struct Walk {
  std::vector<Component> components;
  int error = 0;         ///< 0 if the path exists; else ENOENT, ENOTDIR, ELOOP, EACCES
  std::string stopped;   ///< the component that is missing or not a directory, after resolving links
  std::string real;      ///< the path without symbolic links, if it exists
  std::string dangling;  ///< the last symbolic link, if its target is missing

  bool unknown = false;  ///< its start is unknown: a recorded run, or a root directory that is gone

  [[nodiscard]] bool exists() const { return error == 0; }
  [[nodiscard]] const FileInfo& info() const { return components.back().info; }
};

enum class Access : unsigned { execute = 1, write = 2, read = 4 };

class Prober {
 public:
  explicit Prober(const Process& process) : process_(process) {}

  /// Selects the credentials that may() uses: those of the process at `step` if they are known, else the last ones.
  void select(const Step* step) { step_ = step; }
  [[nodiscard]] const std::optional<Snapshot>& snapshot() const {
    return step_ != nullptr && step_->snapshot ? *step_->snapshot : process_.snapshot;
  }

  [[nodiscard]] Walk walk(const std::string& path) const;
  /// Returns the tracer's path of an absolute path of the process; empty if `path` is relative or the root is unknown.
  [[nodiscard]] std::string tracer_path(const std::string& path) const;
  [[nodiscard]] bool exists(const std::string& path) const { return walk(path).exists(); }
  /// True if the process has the access, by mode bits, access control list, owner, groups and capabilities in
  /// snapshot().
  [[nodiscard]] bool may(const FileInfo& info, Access access) const;
  /// Opens the file that `walk` has led to, if that is still the same and what is in it is no secret to the process:
  /// its owner, groups and capabilities let it read the file, or, where nobody knows them, everybody may.
  [[nodiscard]] proc::TraceeFile open_readable(const Walk& walk) const;
  /// True if the process is in another user namespace than the tracer: its capabilities reach no further.
  [[nodiscard]] bool is_in_other_user_namespace() const;
  [[nodiscard]] bool has_capability(unsigned number) const;
  [[nodiscard]] std::string user() const;  ///< "user www-data (33)"
  /// Returns the first directory on the path that the process may not search; nullptr if there is none.
  [[nodiscard]] const Component* unsearchable_directory(const Walk& walk) const;
  /// Returns "mode 0755, owner root".
  [[nodiscard]] static std::string describe(const FileInfo& info);
  /// The mount that holds a path.
  struct Mount {
    std::string point;
    std::string type;
    bool read_only = false;
    bool no_execute = false;
    bool no_suid = false;
  };
  [[nodiscard]] Mount mount(const std::string& path) const;
  /// True if the file is immutable or append-only (chattr +i or +a).
  [[nodiscard]] bool is_immutable(const std::string& path) const;
  /// True if the path is in a file system of the kernel (proc, sysfs, …), in which programs cannot create files.
  [[nodiscard]] bool is_on_kernel_file_system(const std::string& path) const;
  /// Returns names in a directory that resemble `wanted`.
  [[nodiscard]] std::vector<std::string> similar(const std::string& directory, const std::string& wanted) const;
  /// Describes the components of a path: "/etc exists, mode 0755, owner root; /etc/server does not exist".
  [[nodiscard]] std::string describe_path(const Walk& walk) const;
  [[nodiscard]] const Process& process() const { return process_; }

 private:
  [[nodiscard]] bool is_member(std::uint64_t group) const;
  [[nodiscard]] bool has_right(const FileInfo& info, Access access) const;
  [[nodiscard]] bool listed_access(const FileInfo& info, mode_t bit) const;
  [[nodiscard]] bool knows_root() const { return process_.root == nullptr || process_.root->known; }

  const Process& process_;
  const Step* step_ = nullptr;
};

std::string base_name(const std::string& path);
std::string user_name(unsigned id);
/// Returns "1.5 GiB".
std::string format_bytes(std::uint64_t bytes);

}  // namespace tracer::explain
