// Follows an open file through dup(2), fork(2) and execve(2): which descriptors of which processes refer to it, and
// when.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/views/rows.h"
#include "replay/viewer/descriptor_changes.h"
#include "replay/viewer/recording.h"

namespace tracer::replay::viewer {

class OpenFile {
 public:
  /// The file that a descriptor of a row refers to. It is followed from where it was opened, if that is in the blocks
  /// just before; else from as far back as they go. `recording` outlives this.
  OpenFile(Recording& recording, std::size_t block, const pipeline::views::Row& row, std::int32_t fd);

  /// Whether a row of a block is about it. Follows it up to there.
  bool is_in(std::size_t block, const pipeline::views::Row& row);
  /// Whether any row of a block can be about it. Follows it up to there.
  bool is_open_in(std::size_t block);

 private:
  using Time = std::chrono::nanoseconds;
  using Descriptor = std::pair<pid_t, std::int32_t>;  ///< of a process
  struct Now {
    Time since{};
    bool until_exec = false;
  };
  struct Span {
    Time from{};
    Time to{};
  };

  /// Returns from which change on the descriptor is followed, and makes it the one that the file had then.
  std::size_t find_start(std::size_t at, Descriptor& descriptor) const;
  void follow_to(std::size_t block);
  void apply(const DescriptorChange& change);
  void add(const Descriptor& descriptor, const Now& now);
  void close(std::map<Descriptor, Now>::iterator which, Time time);

  Recording& recording_;
  DescriptorChanges changes_;
  std::size_t first_block_;
  std::size_t next_block_;  ///< whose changes are not yet read
  std::size_t done_ = 0;    ///< changes that were applied
  std::map<Descriptor, Now> now_;
  std::map<Descriptor, std::vector<Span>> before_;
  std::pair<pid_t, Time> opened_;  ///< the thread and the time of the call that opened it: pipe(2) has no descriptor
};

}  // namespace tracer::replay::viewer
