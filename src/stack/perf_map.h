// Functions that a program has compiled itself, as it tells perf: /tmp/perf-PID.map (perf's jit-interface.txt).
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

  /// The name of the file as the tracee sees it; empty if there was none when it was read last.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Null if unknown. The file is read anew where it has grown and does not know the address. Valid until the next
  /// call.
  const Function* find(pid_t tid, std::uint64_t address);
  /// Another program runs.
  void forget() { *this = {}; }

 private:
  void read(pid_t tid);
  [[nodiscard]] const Function* known(std::uint64_t address) const;

  std::string path_;
  std::int64_t size_ = -1;           ///< of the file when it was read
  std::vector<Function> functions_;  ///< by their starts; of several at one place the one written last
};

/// Reads lines of `START SIZE NAME`, numbers in hexadecimal.
std::vector<PerfMap::Function> parse_perf_map(std::string_view text);

}  // namespace tracer::stack
