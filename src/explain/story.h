// What a run was, as far as it can matter for why it ended badly: the story that the rules read. Bounded, whatever
// the tracees do.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "explain/record.h"
#include "explain/surroundings.h"

namespace tracer::explain {

/// A function that a thread was in.
struct Frame {
  std::string function;
  std::string file;    ///< program or library
  std::string source;  ///< empty: unknown
  unsigned line = 0;
};

struct SignalInfo {
  std::string name;  ///< SIGSEGV
  Value info;        ///< as of siginfo_t
  std::uint64_t instruction_pointer = 0;
  std::vector<Frame> stack;  ///< innermost first; empty: unknown
};

/// Something that a process did or that befell it.
struct Step {
  enum class Kind : std::uint8_t {
    failure,  ///< call
    said,     ///< text, on standard error
    exec,     ///< path: a new program
    waited,   ///< child: its end was collected
    other,    ///< call: one that succeeded and that a rule wants to see (connect in progress, SO_ERROR, …)
  };
  Kind kind = Kind::failure;
  pid_t tid = 0;
  Time time{};
  std::uint64_t order = 0;   ///< grows over all processes
  std::uint64_t number = 0;  ///< how many calls of this process came before
  Call call;
  std::string path;  ///< resolved by the process' own view; empty: the call has none
  std::string text;
  pid_t child = 0;
  /// Of a failure: the process then; null: as it was last.
  std::shared_ptr<const std::optional<Snapshot>> snapshot;
};

struct Opened {
  std::string path;
  std::uint64_t order = 0;
};

struct LastCall {
  Call call;
  Time since{};
  bool open = false;
};

struct End {
  bool by_signal = false;
  int status = 0;      ///< or the number of the signal
  std::string signal;  ///< its name
  bool core = false;
  Time time{};
  [[nodiscard]] bool good() const { return !by_signal && status == 0; }
};

struct Crash {
  SignalInfo signal;
  std::vector<proc::MappedRange> mappings;
  std::uint64_t stack_pointer = 0;
  pid_t tid = 0;
  std::uint64_t order = 0;
};

struct Program {
  std::string path;
  std::vector<std::string> args;
};

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<Program> programs;  ///< the exec chain; the last one runs
  std::string command;            ///< a name for it, for where no exec was seen
  std::deque<Step> steps;
  std::size_t image_begins = 0;  ///< the order of the last successful exec
  std::uint64_t calls = 0;
  std::deque<Opened> opened;
  std::map<std::int64_t, std::string> descriptors;  ///< what open and connect put there, as far as it was seen
  std::set<std::int64_t> standard_error = {2};      ///< descriptors that lead there: `echo >&2` of a shell writes to 1
  std::map<pid_t, LastCall> threads;
  std::optional<Snapshot> snapshot;
  std::shared_ptr<const std::optional<Snapshot>> kept_snapshot;  ///< that the last failure got
  std::size_t kept_snapshots = 0;
  std::shared_ptr<Root> root;
  std::string working_directory;
  std::string stopped_by;  ///< the signal that stopped it and nothing has let it go on since; empty: it runs
  std::optional<Crash> crash;
  std::optional<End> end;
  bool collected = false;  ///< its parent waited for it
  bool detached = false;
  Time began{};

  [[nodiscard]] std::string name() const;        ///< the program's, without folders
  [[nodiscard]] std::string executable() const;  ///< with folders; empty if unknown
  /// What it said on standard error since its last exec, joined.
  [[nodiscard]] std::string said() const;
};

class Story {
 public:
  /// `surroundings`: nullptr for a recorded run.
  /// `complete`: every call is told, and not only those that rules ask for.
  /// `disturbs`: the kernel gives the processes less than it would if nobody watched.
  Story(Surroundings* surroundings, bool complete, bool disturbs)
      : surroundings_(surroundings), complete_(complete), disturbs_(disturbs) {}

  void appeared(pid_t pid) { process(pid); }
  void begin_call(pid_t pid, pid_t tid, Time time, const Call& call);
  void end_call(pid_t pid, pid_t tid, Time time, Call call);
  void signal(pid_t pid, pid_t tid, Time time, SignalInfo signal);
  /// By job control.
  void stopped(pid_t pid, std::string signal) { process(pid).stopped_by = std::move(signal); }
  void fork(pid_t pid, pid_t child, bool is_thread, Time time);
  void exec(pid_t pid, Time time);
  void exited(pid_t pid, pid_t tid, Time time, End end);
  void detached(pid_t pid, pid_t tid);
  /// So many events are missing here, whose nobody knows.
  void lost(std::uint64_t events) { lost_ += events; }
  void command(pid_t pid, std::string_view name) { process(pid).command = name; }

  [[nodiscard]] const std::map<pid_t, Process>& processes() const { return processes_; }
  [[nodiscard]] const Process* find(pid_t pid) const;
  /// The first process that was seen: what was launched, or attached to; nullptr: nothing has happened.
  [[nodiscard]] const Process* first() const { return find(first_); }
  [[nodiscard]] Time began() const { return began_; }
  /// How many seccomp filters of a process are the tracer's own.
  [[nodiscard]] std::uint64_t own_filters() const { return own_filters_; }
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] bool disturbs() const { return disturbs_; }
  [[nodiscard]] Surroundings* surroundings() const { return surroundings_; }

 private:
  Process& process(pid_t pid);
  Step& add(Process& process, pid_t tid, Time time, Step::Kind kind);
  void keep_failure(Process& process, pid_t tid, Time time, Call call);
  void keep_success(Process& process, pid_t tid, Time time, Call call);
  void saw_wait(Process& process, pid_t tid, Time time, const Call& call);
  [[nodiscard]] std::string resolve(const Process& process, pid_t tid, const Call& call) const;
  [[nodiscard]] std::string absolute(const Process& process, pid_t tid, const Call& call, std::string path) const;
  void look_at(Process& process, pid_t tid);
  void look_at_root(Process& process, pid_t tid);
  static void keep_snapshot(Process& process, Step& step);
  void learn_folder(Process& process, const Call& call);
  static void follow_standard_error(Process& process, const Call& call);
  void count_own_filters(const Process& process);

  Surroundings* surroundings_;
  bool complete_;
  bool disturbs_;
  std::map<pid_t, Process> processes_;
  pid_t first_ = 0;
  Time began_{};
  std::uint64_t order_ = 0;
  std::uint64_t own_filters_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace tracer::explain
