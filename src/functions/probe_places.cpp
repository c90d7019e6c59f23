#include "functions/probe_places.h"

#include <unistd.h>

#include "proc/proc_text.h"

namespace tracer::functions {

std::optional<std::uint64_t> file_offset(const library::Module& module, std::uint64_t address) {
  const std::uint64_t inside = address - module.bias;
  for (const library::Segment& segment : module.file->segments()) {
    if (segment.executable && inside >= segment.address && inside - segment.address < segment.file_size) {
      return segment.offset + (inside - segment.address);
    }
  }
  return std::nullopt;
}

std::string path_of(pid_t process, const library::Module& module) {
  std::string mapped = proc::proc_path(process, "map_files/" + module.range);
  return ::access(mapped.c_str(), R_OK) == 0 ? mapped : proc::proc_path(process, "root" + module.path);
}

}  // namespace tracer::functions
