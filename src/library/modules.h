// The modules of a running process: its program and the libraries that are mapped now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "library/module_file.h"

namespace tracer::library {

struct Module {
  std::shared_ptr<const ModuleFile> file;
  std::uint64_t bias = 0;   ///< what relocation added to the file's addresses; wraps
  std::uint64_t start = 0;  ///< of its code in memory
  std::uint64_t end = 0;
  std::string path;
  std::uint64_t inode = 0;
  std::string range;  ///< of its first code, its name in /proc/PID/map_files
  std::string name;   ///< soname, or the file's own name
  bool is_program = false;
};

/// Files that were read before, by what tells a changed file from the one that was read.
class ModuleCache {
 public:
  /// Null if it cannot be opened, or is no module.
  std::shared_ptr<const ModuleFile> open(pid_t pid, const std::string& range, const std::string& path, ino_t inode);

 private:
  using Key = std::tuple<dev_t, ino_t, off_t, std::int64_t>;
  static constexpr std::size_t most = 4096;
  std::map<Key, std::shared_ptr<const ModuleFile>> files_;
};

/// What /proc/PID/maps says, in the order of addresses; empty if the process is gone.
std::vector<Module> modules_of(pid_t pid, ModuleCache& cache);

/// A stretch of addresses that nothing is mapped at, of `size` bytes, in the hole below `address` that is the closest;
/// not at its upper end, where the kernel puts the process's next mappings, and not so far down that `reach` bytes from
/// `address` would not suffice. It begins where a page does, however big the kernel's pages are. 0: none.
std::uint64_t free_space_below(pid_t pid, std::uint64_t address, std::uint64_t size, std::uint64_t reach);

/// Whether code may run there.
bool is_executable(pid_t pid, std::uint64_t address);

/// Start and size of the code that the kernel maps into every process; 0 if there is none.
std::pair<std::uint64_t, std::uint64_t> kernel_code_of(pid_t pid);

}  // namespace tracer::library
