// Finds the ELF object of a mapping: the mapped file, or a copy of it from the process's memory.
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
  /// Returns null if there is no object. `tid` is a thread with the mapping, and `memory` is its memory.
  std::shared_ptr<ElfObject> find(const Mapping& mapping, pid_t tid, const trace::Memory& memory);

 private:
  /// Identifies a file and its version.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    auto operator<=>(const Identity&) const = default;
  };
  static constexpr std::size_t max_files = 512;
  static constexpr std::uint64_t max_unused_bytes = std::uint64_t{256} << 20;  ///< of files
  static constexpr std::size_t max_versions = 4;                               ///< of one file, in use
  static constexpr std::size_t max_images = 64;
  static constexpr std::size_t max_image_bytes = std::size_t{64} << 20;  ///< of all images

  std::shared_ptr<ElfObject> from_file(UniqueFd file, const Identity& identity, bool trusted);
  std::shared_ptr<ElfObject> from_memory(const Mapping& mapping, pid_t tid, const trace::Memory& memory);

  /// Whether so many versions of a file are in use that no further one is read.
  [[nodiscard]] bool changes_too_often(const Identity& identity) const;
  void drop_unused_images();

  std::map<Identity, std::shared_ptr<ElfObject>> files_;
  std::uint64_t bytes_read_ = 0;  ///< sizes of the files that were read since the unused ones were dropped
  std::map<std::vector<char>, std::shared_ptr<ElfObject>> images_;
  std::size_t image_bytes_ = 0;
};

}  // namespace tracer::stack
