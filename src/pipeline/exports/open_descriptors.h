// How many descriptors a process holds that it was seen to open.
#pragma once

#include <set>
#include <unordered_map>

#include "pipeline/exports/facts.h"

namespace tracer::pipeline::exports {

class OpenDescriptors {
 public:
  /// Returns whether the call has changed the number of its process.
  bool follow(const Call& call);
  /// The child will have what its parent has now.
  void forks(const Process& parent, pid_t child);
  void process_appears(const Process& process);
  /// Closes what O_CLOEXEC and FD_CLOEXEC say. Returns whether that has changed the number.
  bool executes(const Process& process);
  void process_goes(const Process& process);

  [[nodiscard]] std::size_t count(const Process& process) const;

 private:
  struct Held {
    std::set<std::int64_t> all;
    std::set<std::int64_t> until_exec;
  };

  void open(Held& held, std::int64_t descriptor, bool until_exec);

  std::unordered_map<std::uint64_t, Held> held_;  ///< by the id of the process
  std::unordered_map<pid_t, Held> inherited_;     ///< of children that have not appeared
};

}  // namespace tracer::pipeline::exports
