// Translates process ids of other PID namespaces into those of the tracer's. Since Linux 6.11 the kernel answers;
// before, and for groups whose first process has ended, all processes of /proc are searched.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/time_share.h"

namespace tracer::names {

enum class PidKind : std::uint8_t {
  process,  ///< a process or a thread
  group,    ///< a process group or a session
};

class PidNamespaces {
 public:
  PidNamespaces();

  /// Returns the id in the tracer's namespace of what has the id `number` in the namespace of thread `tid`. Returns
  /// `number` if the namespaces are equal, and 0 if nothing has that id, /proc does not show it, or searches have taken
  /// half of the time so far: tracees would wait for them.
  std::int32_t here(std::int32_t tid, std::int32_t number, PidKind kind);

 private:
  /// A namespace and its depth.
  struct Home {
    std::string name;  ///< `pid:[4026531836]`
    std::size_t level =
        0;  ///< index of its ids in the lists of /proc/PID/status, which start with the outermost namespace
  };
  [[nodiscard]] static bool answers(const Home& home, std::int32_t candidate, std::int32_t number, PidKind kind,
                                    std::int32_t& found);
  static std::int32_t search(const Home& home, std::int32_t number, PidKind kind, std::int32_t& witness);

  std::string own_;
  TimeShare searches_;
  std::unordered_map<std::string, std::int32_t>
      witnesses_;  ///< the process that had the id at the last lookup; it is tried first
};

}  // namespace tracer::names
