// Names of JIT-compiled functions from /tmp/perf-PID.map, the file that programs write for perf (jit-interface.txt).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::stack {

class PerfMap {
 public:
  struct Function {
    std::uint64_t start;
    std::uint64_t size;
    std::string name;
  };

  /// Returns the path of the file as the tracee sees it; empty if no file has been read.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the function that contains `address`, or null. Reads the file again if the address is unknown and the size
  /// of the file has changed. The result is valid until the next call.
  const Function* find(pid_t tid, std::uint64_t address);

 private:
  void read(pid_t tid);
  [[nodiscard]] const Function* look_up(std::uint64_t address) const;

  std::string path_;
  std::int64_t size_ = -1;           ///< of the file when it was read
  std::vector<Function> functions_;  ///< sorted by start; of several with the same start, find() uses the last one
};

/// Parses lines of `START SIZE NAME` with hexadecimal numbers.
std::vector<PerfMap::Function> parse_perf_map(std::string_view text);

}  // namespace tracer::stack
