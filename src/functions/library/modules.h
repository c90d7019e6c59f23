// The modules of a running process: the program and the libraries that are mapped now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "functions/library/module_file.h"

namespace tracer::functions::library {

struct Module {
  std::shared_ptr<const ModuleFile> file;
  std::uint64_t bias = 0;   ///< load bias: address in memory minus address in the file; may wrap
  std::uint64_t start = 0;  ///< of its code in memory
  std::uint64_t end = 0;
  std::string path;
  std::uint64_t inode = 0;
  std::string range;  ///< name of its first executable mapping in /proc/PID/map_files
  std::string name;   ///< soname, or the name of the file if there is none
  bool is_program = false;
};

/// Caches files that were read. The key contains size and modification time, so that a changed file is read again.
class ModuleCache {
 public:
  /// Returns null if the file cannot be opened or is not a module. `range` is its name in /proc/PID/map_files.
  std::shared_ptr<const ModuleFile> open(pid_t pid, const std::string& range, const std::string& path, ino_t inode);

 private:
  using Key = std::tuple<dev_t, ino_t, off_t, std::int64_t>;
  static constexpr std::size_t max_files = 4096;
  static constexpr std::uint64_t max_unused_bytes = std::uint64_t{48} << 20;  ///< of files
  std::map<Key, std::shared_ptr<const ModuleFile>> files_;
  std::uint64_t bytes_read_ = 0;  ///< sizes of the files that were read since the unused ones were dropped
};

/// Returns the modules in /proc/PID/maps, sorted by address; empty if the process is gone.
std::vector<Module> modules_of(pid_t pid, ModuleCache& cache);

/// Returns the start of `size` unmapped bytes in the closest gap below `address`, at most `reach` bytes below the gap's
/// upper end. It avoids that end, where the kernel places the process's next mappings. The result is aligned for every
/// page size. Returns 0 if there is no gap.
std::uint64_t free_space_below(pid_t pid, std::uint64_t address, std::uint64_t size, std::uint64_t reach);

/// Whether `address` is in an executable mapping.
bool is_executable(pid_t pid, std::uint64_t address);

/// Returns start and size of the vDSO; 0 if there is none.
std::pair<std::uint64_t, std::uint64_t> vdso_of(pid_t pid);

/// Returns where the kernel has functions return to that it follows by uprobes; 0 if it does not in this process yet.
std::uint64_t uprobe_trampoline_of(pid_t pid);

}  // namespace tracer::functions::library
