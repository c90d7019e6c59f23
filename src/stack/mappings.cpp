#include "stack/mappings.h"

#include "base/memory_map.h"

namespace tracer::stack {

std::vector<Mapping> read_mappings(pid_t tid, Which which) {
  std::vector<Mapping> mappings;
  for_each_range(read_memory_map(tid), [&](const MappedRange& range) {
    if (which == Which::executable && !range.is_executable()) {
      return;
    }
    Mapping& mapping = mappings.emplace_back();
    mapping.start = range.start;
    mapping.end = range.end;
    mapping.file_offset = range.file_offset;
    mapping.device = range.device;
    mapping.inode = range.inode;
    mapping.executable = range.is_executable();
    mapping.path = range.path;
  });
  return mappings;
}

}  // namespace tracer::stack
