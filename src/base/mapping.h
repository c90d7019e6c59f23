// Owner of a memory mapping.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>

namespace tracer {
inline namespace base {

struct Unmap {
  std::size_t size = 0;  ///< bytes
  void operator()(void* mapping) const { ::munmap(mapping, size); }
};
using Mapping = std::unique_ptr<void, Unmap>;

/// Calls mmap(2) with `protection` and `flags`. Returns null and leaves errno set if that fails.
inline Mapping map_file(int file, std::size_t size, int protection, int flags, std::size_t offset = 0) {
  void* mapping = ::mmap(nullptr, size, protection, flags, file, static_cast<off_t>(offset));
  return {mapping == MAP_FAILED ? nullptr : mapping, Unmap{size}};
}

}  // namespace base
}  // namespace tracer
