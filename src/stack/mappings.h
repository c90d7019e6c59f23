// Memory mappings together with the ELF objects that they map.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "proc/memory_map.h"

namespace tracer::stack {

class ElfObject;

struct Mapping : proc::MappedRange {
  std::shared_ptr<ElfObject> object;  ///< null if there is none or it has not been looked up
  bool object_known = false;          ///< `object` has been looked up

  Mapping() = default;
  explicit Mapping(const proc::MappedRange& range) : proc::MappedRange(range) {}
  [[nodiscard]] bool same_as(const Mapping& other) const {
    return start == other.start && end == other.end && file_offset == other.file_offset && device == other.device &&
           inode == other.inode && path == other.path;
  }
};

enum class MappingKind : std::uint8_t { executable, all };

/// Reads the mappings of this kind, sorted by address; empty if the thread is gone.
std::vector<Mapping> read_mappings(pid_t tid, MappingKind kind);

}  // namespace tracer::stack
