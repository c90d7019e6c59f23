// Describes what a file descriptor of a process refers to and which process has the other end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "explain/owners.h"

namespace tracer::explain {

/// Returns "standard input" and the like; empty for other descriptors.
std::string_view standard_stream(std::int64_t fd);

/// Remembers who has a pipe, since all of /proc has to be read to find them: one of these serves for one report.
class Peers {
 public:
  /// Returns a description: "standard input, a pipe that cat (pid 12) can write to", "descriptor 5, /dev/pts/0 (a
  /// terminal: it waits for input)", …
  std::string describe(pid_t pid, std::int64_t fd);

  /// Returns the only process that has the other end of a pipe, if it has but one thread; 0: there is none, or more of
  /// them.
  pid_t other_end(pid_t pid, std::int64_t fd);

 private:
  struct OtherEnd {
    std::vector<pid_t> holders;  ///< of the end that a process with this one waits for, without that process
    const char* use = "";        ///< what they have it for: "can write to"
  };
  OtherEnd find_other_end(pid_t pid, std::int64_t fd, const std::string& link);

  std::map<std::string, std::vector<PipeHolder>> pipes_;
};

}  // namespace tracer::explain
