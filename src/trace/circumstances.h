// As whom and where a process ran at the time of an event, from an engine that did not stop it: when the event is
// handled, /proc tells of a later time, if of anything.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proc/memory_map.h"

namespace tracer::trace {

/// What is empty is not known.
struct Circumstances {
  /// Ids and rights (credentials(7), capabilities(7)), limits (getrlimit(2)) and seccomp(2).
  struct Rights {
    std::array<std::uint32_t, 4> users{};   ///< real, effective, saved, of file systems
    std::array<std::uint32_t, 4> groups{};  ///< the same
    std::vector<std::uint32_t> more_groups;
    std::uint64_t capabilities = 0;  ///< the effective ones
    unsigned seccomp_mode = 0;
    unsigned seccomp_filters = 0;
    std::vector<std::uint64_t> limits;  ///< soft ones, by RLIMIT_*
  };
  /// The root folder that the process has.
  struct Root {
    std::string path;  ///< from the root of its mount namespace on
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t mount_namespace = 0;  ///< inode number of /proc/PID/ns/mnt
  };
  std::optional<Rights> rights;
  std::optional<Root> root;
  std::string working_directory;  ///< as the process sees it, " (deleted)" at the end
  /// Of the descriptor that a call's first argument names, as above.
  std::string descriptor_path;
  std::int64_t descriptor = -1;
  /// When a signal killed: those that matter for what the thread did and for its stack.
  std::vector<proc::MappedRange> mappings;
  std::uint64_t stack_pointer = 0;
};

}  // namespace tracer::trace
