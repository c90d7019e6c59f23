// The memory mappings of a process, from /proc/PID/maps (proc_pid_maps(5)).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer::proc {

/// One memory mapping.
struct MappedRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  ///< of `start`, in bytes
  std::uint64_t device = 0;       ///< as makedev(3) returns it; 0 without a file
  std::uint64_t inode = 0;
  std::string protection;  ///< "r-xp"
  /// The file as the process sees it, with newlines as \012 and " (deleted)" appended if it is; "[stack]" and the like;
  /// or empty.
  std::string path;

  /// Returns the name in /proc/PID/map_files, which has no leading zeros, unlike /proc/PID/maps.
  [[nodiscard]] std::string map_files_name() const;
  [[nodiscard]] bool is_executable() const { return protection.size() > 2 && protection[2] == 'x'; }
  [[nodiscard]] bool contains(std::uint64_t address) const { return start <= address && address < end; }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const { return address - start + file_offset; }
};

/// Parses one line of the file; empty if the line is malformed.
[[nodiscard]] std::optional<MappedRange> parse_mapped_range(std::string_view line);

/// Reads the whole file; empty if the thread is gone.
[[nodiscard]] std::string read_memory_map(pid_t tid);

/// Whether the kernel keeps the file from us, as it does for a program that its user may run but not read.
[[nodiscard]] bool hides_memory_map(pid_t tid);

/// Calls `function` with each mapping in the text of the file, in ascending order of addresses.
template <typename Function>
void for_each_range(std::string_view map, Function function) {
  while (!map.empty()) {
    const std::size_t end = std::min(map.find('\n'), map.size());
    if (const auto range = parse_mapped_range(map.substr(0, end))) {
      function(*range);
    }
    map.remove_prefix(std::min(end + 1, map.size()));
  }
}

}  // namespace tracer::proc
