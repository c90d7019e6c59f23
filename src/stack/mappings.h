// The code in a process's memory: what /proc/PID/maps says of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "proc/memory_map.h"

namespace tracer::stack {

class ElfObject;

/// And what is known of the code in it.
struct Mapping : proc::MappedRange {
  // Found when it is needed first.
  std::shared_ptr<ElfObject> object;
  bool object_known = false;

  Mapping() = default;
  explicit Mapping(const proc::MappedRange& range) : proc::MappedRange(range) {}
  [[nodiscard]] bool same_as(const Mapping& other) const {
    return start == other.start && end == other.end && file_offset == other.file_offset && device == other.device &&
           inode == other.inode && path == other.path;
  }
};

enum class Which : std::uint8_t { executable, all };

/// In the order of their addresses; empty if the thread is gone.
std::vector<Mapping> read_mappings(pid_t tid, Which which);

}  // namespace tracer::stack
