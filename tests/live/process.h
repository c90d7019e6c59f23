// Programs that a live test starts, with a limit to every wait.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace tracer::live {

/// How long a test waits for what has to come: 20 s, or $TRACER_LIVE_PATIENCE seconds on a slow machine. Of the time
/// between two looks little counts: while the test itself was not let run, the others may not have been either.
class Patience {
 public:
  Patience();
  /// How long to wait before the next look; 0: no longer.
  std::chrono::milliseconds next();

 private:
  std::chrono::steady_clock::duration left_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Process {
 public:
  /// Standard input and output are pipes; standard error joins the output if asked.
  explicit Process(const std::vector<std::string>& args, bool with_errors = false);
  /// Kills it if it has not been waited for.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  void say(const std::string& line) const;

  /// The next line of output, without its end; empty at the end of the output or of our patience.
  std::optional<std::string> line();
  /// Reads on up to the line `expected`.
  bool reaches(const std::string& expected);
  /// The lines up to the first that has these words (find_line), or to the end of the output or of our patience.
  std::vector<std::string> up_to(const std::string& words);
  /// All lines until the end of the output, or until nothing more comes for as long as our patience lasts.
  std::vector<std::string> rest();

  /// The wait status; empty if it does not end in time.
  std::optional<int> wait();
  /// Waits for it to stop by job control.
  bool stops();

 private:
  bool read_more(Patience& patience);

  pid_t pid_ = -1;
  bool waited_ = false;
  UniqueFd input_;
  UniqueFd output_;
  std::string pending_;
};

/// The value of a field in /proc/PID/status, such as "TracerPid".
std::string status_field(pid_t pid, const std::string& name);

/// Whether every thread of the process is untraced and none is stopped.
bool runs_untraced(pid_t pid);

/// Polls `condition` until it holds or our patience ends.
template <typename Condition>
bool becomes_true(Condition condition);

void pause_briefly(std::chrono::microseconds time);

template <typename Condition>
bool becomes_true(Condition condition) {
  Patience patience;
  while (!condition()) {
    if (patience.next().count() == 0) {
      return false;
    }
    pause_briefly(std::chrono::milliseconds(2));
  }
  return true;
}

/// Repetitions of a test that hunts for races: few by default, $TRACER_LIVE_ROUNDS if set.
int rounds(int by_default);

/// The first line that has all of these words in this order, as whole words; empty if none has.
std::optional<std::string> find_line(const std::vector<std::string>& lines, const std::string& words);
long count_lines(const std::vector<std::string>& lines, const std::string& words);

}  // namespace tracer::live
