// Names of JIT-compiled functions from /tmp/perf-PID.map, the file that programs write for perf (jit-interface.txt).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::stack {

class PerfMap {
 public:
  struct Function {
    std::string_view name;  ///< printable
    std::uint64_t start;
  };

  /// Returns the path of the file as the tracee sees it; empty if no file has been read.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the function that contains `address`. Reads what has been appended to the file if the address is unknown,
  /// and all of it if the file is another one or has become shorter. The result is valid until the next call.
  std::optional<Function> find(pid_t tid, std::uint64_t address);

  /// Adds lines of `START SIZE NAME` with hexadecimal numbers. Returns how many bytes of `text` are whole lines.
  std::size_t add(std::string_view text);
  [[nodiscard]] std::optional<Function> look_up(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t start;
    std::uint64_t size;
    std::uint32_t name;         ///< offset in names_
    std::uint32_t name_length;  ///< bytes
  };

  void read(pid_t tid);

  std::string path_;
  std::uint64_t inode_ = 0;
  std::int64_t done_ = 0;       ///< bytes of the file that have been read
  std::int64_t read_ = 0;       ///< bytes of this and former files that have been read
  std::vector<Entry> entries_;  ///< sorted by start; of several with the same start, the last one counts
  std::string names_;
};

}  // namespace tracer::stack
