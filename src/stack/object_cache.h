// Finds the object behind a mapping: the very file, wherever it is now, or what the memory shows of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stack/elf_object.h"
#include "stack/mappings.h"
#include "trace/memory.h"

namespace tracer::stack {

class ObjectCache {
 public:
  /// Null where there is nothing to be found. `tid` has the mapping, and `memory` is its own.
  std::shared_ptr<ElfObject> find(const Mapping& mapping, pid_t tid, const trace::Memory& memory);

 private:
  /// What makes a file the same file, unchanged.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    auto operator<=>(const Identity&) const = default;
  };
  static constexpr std::size_t most_files = 512;
  static constexpr std::size_t most_images = 64;

  std::shared_ptr<ElfObject> from_file(UniqueFd file, const Identity& identity, bool trusted);
  std::shared_ptr<ElfObject> from_memory(const Mapping& mapping, pid_t tid, const trace::Memory& memory);

  std::map<Identity, std::shared_ptr<ElfObject>> files_;
  std::map<std::vector<char>, std::shared_ptr<ElfObject>> images_;
};

}  // namespace tracer::stack
