// What a process has in its memory, as /proc/PID/maps tells (proc_pid_maps(5)).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer::proc {

/// A mapping of a process.
struct MappedRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  ///< that `start` shows
  std::uint64_t device = 0;       ///< as makedev(3) has it; 0 with no file
  std::uint64_t inode = 0;
  std::string protection;  ///< "r-xp"
  std::string
      path;  ///< a file as the process sees it, a line end as \012, " (deleted)" at the end; "[stack]"; or empty

  /// Its name in /proc/PID/map_files, which has no zeros in front, as the map has.
  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] bool is_executable() const { return protection.size() > 2 && protection[2] == 'x'; }
  [[nodiscard]] bool holds(std::uint64_t address) const { return start <= address && address < end; }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const { return address - start + file_offset; }
};

/// A line; nothing if it is not one.
[[nodiscard]] std::optional<MappedRange> parse_mapped_range(std::string_view line);

/// The text of the whole map; empty if the thread is gone.
[[nodiscard]] std::string read_memory_map(pid_t tid);

/// Calls `function` with each range of a map's text, in the order of their addresses.
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
