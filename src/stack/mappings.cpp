#include "stack/mappings.h"

namespace tracer::stack {

std::vector<Mapping> read_mappings(pid_t tid, MappingKind kind) {
  std::vector<Mapping> mappings;
  proc::for_each_range(proc::read_memory_map(tid), [&](const proc::MappedRange& range) {
    if (kind == MappingKind::all || range.is_executable()) {
      mappings.emplace_back(range);
    }
  });
  return mappings;
}

}  // namespace tracer::stack
