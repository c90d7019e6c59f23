// The causes that --explain knows, with one file for each subject.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/rule.h"

namespace tracer::explain::rules {

/// Returns all rules, special ones before general ones.
std::vector<Rule> all_rules();
/// Returns the names of the calls to trace, each as `?name`, separated by commas.
std::string calls_to_trace();

std::span<const Rule> exec_rules();
std::span<const Rule> loader_rules();
std::span<const Rule> file_rules();
std::span<const Rule> kernel_file_rules();
std::span<const Rule> lock_rules();
std::span<const Rule> network_rules();
std::span<const Rule> limit_rules();
std::span<const Rule> permission_rules();
std::span<const Rule> mount_rules();
std::span<const Rule> security_module_rules();
std::span<const Rule> fatal_signal_rules();
std::span<const Rule> error_rules();
std::span<const Rule> environment_rules();
std::span<const Rule> exception_rules();
std::span<const Rule> exit_status_rules();
std::span<const Rule> configuration_rules();
std::span<const Rule> saying_rules();

/// True if the process looked for a command of that name in two directories of PATH at least, and did not find it.
[[nodiscard]] bool was_looked_for_in_path(const Process& process, const std::string& name);

inline constexpr std::string_view file_calls =
    "open openat openat2 creat access faccessat faccessat2 stat lstat newfstatat fstatat64 stat64 lstat64 statx "
    "readlink readlinkat chdir mkdir mkdirat mknod mknodat unlink unlinkat rmdir rename renameat renameat2 link linkat "
    "symlink symlinkat truncate truncate64 chmod fchmodat chown lchown fchownat utimensat chroot statfs uselib "
    "inotify_add_watch name_to_handle_at pivot_root setxattr lsetxattr";

}  // namespace tracer::explain::rules
