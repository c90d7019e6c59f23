// The code in a process's memory: what /proc/PID/maps says of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracer::stack {

class ElfObject;

/// As base/memory_map.h has it.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool executable = false;
  std::string path;

  // Found when it is needed first.
  std::shared_ptr<ElfObject> object;
  bool object_known = false;

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const { return address - start + file_offset; }
  [[nodiscard]] bool same_as(const Mapping& other) const {
    return start == other.start && end == other.end && file_offset == other.file_offset && device == other.device &&
           inode == other.inode && path == other.path;
  }
};

enum class Which : std::uint8_t { executable, all };

/// In the order of their addresses; empty if the thread is gone.
std::vector<Mapping> read_mappings(pid_t tid, Which which);

}  // namespace tracer::stack
