// The control groups of targets, one place each, for as long as a trace lasts: units and containers start, end and
// start again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "proc/cgroups/target.h"

namespace tracer::proc::cgroups {

class Slots {
 public:
  /// Takes the group of the slot with this index, open as a directory, from now on.
  using Fill = std::function<Status(std::size_t slot, const UniqueFd& group)>;

  Slots(std::vector<Target> targets, Fill fill);

  /// Fills the slots of all targets that are there. The error is one sentence, and that of `check()`.
  Status start();
  /// One sentence for each target that does not run yet.
  [[nodiscard]] std::vector<std::string> missing() const;
  /// Becomes readable when a group is made; -1 if the kernel reports none.
  [[nodiscard]] int descriptor() const { return changes_.get(); }
  /// Fills the slots whose targets have started, or started again. Costs next to nothing while all of them run. If
  /// `descriptor()` is not readable, slots that wait are looked for at most five times a second. Looks take a
  /// tenth of the time at most, because users make groups and notes as they like.
  void refresh();

 private:
  struct Slot {
    Target target;
    std::string directory;  ///< of its group; empty: it does not run
    ino_t inode = 0;        ///< of the directory, which may be made again
    std::string hint;       ///< of `Found`
  };

  Status look(Slot& slot);
  [[nodiscard]] static bool is_there(const Slot& slot);
  /// Watches all groups for new ones below them, as far as the user's limit of watches allows.
  void watch_all();
  /// Reads what has been reported; returns whether there was anything.
  bool drain();

  std::vector<Slot> slots_;
  Fill fill_;
  std::string mount_;
  UniqueFd changes_;            ///< of inotify(7)
  bool something_new_ = false;  ///< since the last look
  std::chrono::nanoseconds looked_at_{};
  std::chrono::nanoseconds look_took_{};
};

}  // namespace tracer::proc::cgroups
