// The story of a run: the events of its processes that rules examine to explain a failure. Its size is bounded,
// whatever the tracees do.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "explain/mount_requests.h"
#include "explain/record.h"
#include "explain/system_view.h"

namespace tracer::explain {

/// A function on the stack of a thread.
struct Frame {
  std::string function;
  std::string file;    ///< program or library
  std::string source;  ///< empty: unknown
  unsigned line = 0;
};

struct SignalInfo {
  std::string name;  ///< SIGSEGV
  Value info;        ///< the decoded siginfo_t
  std::uint64_t instruction_pointer = 0;
  std::vector<Frame> stack;  ///< innermost first; empty: unknown
};

/// An event of a process.
struct Step {
  enum class Kind : std::uint8_t {
    failure,  ///< `call` failed
    message,  ///< the process wrote `text` to standard error
    output,   ///< the process reported an error, `text`, on standard output
    exec,     ///< the process executed the program at `path`
    waited,   ///< the process waited for `child`, which has exited
    other,    ///< `call` succeeded and a rule examines it (connect in progress, SO_ERROR, …)
  };
  Kind kind = Kind::failure;
  pid_t tid = 0;
  Time time{};
  std::uint64_t order = 0;   ///< increases over the steps of all processes
  std::uint64_t number = 0;  ///< number of calls of this process before the step
  Call call;
  std::string path;                           ///< absolute path in the process's view; empty: the call has none
  std::string new_path;                       ///< the second path of rename, link and the like
  std::shared_ptr<const MountRequest> mount;  ///< of a failure to mount: what was to be mounted
  std::string text;
  bool is_hidden = false;  ///< of a message: it did not go where the first process's standard error goes
  pid_t child = 0;
  /// The process at the time of a failure; null: use the process's last snapshot.
  std::shared_ptr<const std::optional<Snapshot>> snapshot;
};

struct Opened {
  std::string path;
  std::uint64_t order = 0;
};

/// The last output of a process that did not go to standard error.
struct LastOutput {
  std::string text;  ///< empty: not to standard output
  std::uint64_t order = 0;
};

struct LastCall {
  Call call;
  Time since{};
  bool open = false;
};

struct ExitInfo {
  bool by_signal = false;
  int status = 0;      ///< exit status, or number of the signal
  std::string signal;  ///< name of the signal
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

/// The programs that a process has executed, the first one and the newest ones. Those that it forks share them.
class Programs {
 public:
  void add(Program program);
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] const Program& back() const { return *kept_.back(); }
  /// Returns how many there were, with those that are no longer kept.
  [[nodiscard]] std::size_t size() const { return kept_.size() + left_out_; }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }  ///< after the first one
  [[nodiscard]] const std::vector<std::shared_ptr<const Program>>& kept() const { return kept_; }

 private:
  std::vector<std::shared_ptr<const Program>> kept_;
  std::size_t left_out_ = 0;
};

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  Programs programs;                               ///< those that it has executed; the last one runs
  std::string command;                             ///< its name if no exec was seen
  std::shared_ptr<const std::string> environment;  ///< of its last exec: `name=value`, each ended by NUL; null: unknown
  std::deque<Step> steps;
  std::size_t last_exec = 0;  ///< `order` of the last successful exec
  std::uint64_t calls = 0;
  std::deque<Opened> opened;
  std::map<std::int64_t, std::string> descriptors;  ///< their paths, as far as opens were seen
  MountRequests mounts;
  std::set<std::int64_t> standard_error = {2};  ///< duplicates of it: `echo >&2` of a shell writes to 1
  LastOutput last_output;
  std::map<pid_t, LastCall> threads;
  std::optional<Snapshot> snapshot;
  std::shared_ptr<const std::optional<Snapshot>> shared_snapshot;  ///< the snapshot of the last failure
  std::size_t snapshot_count = 0;
  std::shared_ptr<Root> root;
  std::string working_directory;
  std::string stopped_by;  ///< the signal of its group-stop; empty: it runs
  std::optional<Crash> crash;
  std::optional<ExitInfo> exit;
  std::uint64_t exit_order = 0;
  std::size_t living_children = 0;
  bool collected = false;  ///< its parent has waited for it
  bool detached = false;
  Time started{};

  [[nodiscard]] std::string name() const;        ///< file name of the program
  [[nodiscard]] std::string executable() const;  ///< path of the program; empty if unknown
  /// Returns the command line of the program, its name first; empty if unknown.
  [[nodiscard]] std::span<const std::string> words() const {
    return programs.empty() ? std::span<const std::string>() : programs.back().args;
  }
  /// Returns all that it wrote to standard error since its last exec, without what it hid before it said something
  /// openly.
  [[nodiscard]] std::string messages() const;
  /// Returns the messages; of a program that wrote none, the lines of its standard output that report an error.
  [[nodiscard]] std::string complaints() const;
  /// True for a message that is part of them.
  [[nodiscard]] bool is_said(const Step& step) const;
  /// True for what is part of the complaints.
  [[nodiscard]] bool is_complaint(const Step& step) const;
};

/// The thread and the time of an event, and the view of the running system.
struct Moment {
  pid_t tid = 0;
  Time time{};
  SystemView* system = nullptr;  ///< null: the run was recorded
};

class Story {
 public:
  /// `live`: the run goes on, and events come with a SystemView; false: it was recorded.
  /// `complete`: the story receives every call, not only those that rules examine.
  /// `alters_privileges`: tracing changes the processes' privileges: the kernel ignores set-user-ID bits of ptraced
  /// programs.
  Story(bool live, bool complete, bool alters_privileges)
      : live_(live), complete_(complete), alters_privileges_(alters_privileges) {}

  void appeared(pid_t pid) { process(pid); }
  void begin_call(pid_t pid, pid_t tid, Time time, const Call& call);
  void end_call(pid_t pid, const Moment& moment, Call call);
  void signal(pid_t pid, const Moment& moment, SignalInfo signal);
  /// Records a group-stop.
  void stopped(pid_t pid, std::string signal) { process(pid).stopped_by = std::move(signal); }
  void fork(pid_t pid, pid_t child, bool is_thread, Time time);
  void exec(pid_t pid, Time time);
  void exited(pid_t pid, pid_t tid, Time time, ExitInfo exit);
  void detached(pid_t pid, pid_t tid);
  /// Records lost events, whose processes are unknown.
  void lost(std::uint64_t events) { lost_ += events; }
  void command(pid_t pid, std::string_view name) { process(pid).command = name; }

  [[nodiscard]] const std::map<pid_t, Process>& processes() const { return processes_; }
  [[nodiscard]] const Process* find(pid_t pid) const;
  /// Returns the process that was launched or attached to first; nullptr before the first event.
  [[nodiscard]] const Process* first() const { return find(first_); }
  [[nodiscard]] Time started() const { return start_time_; }
  /// Returns the number of seccomp filters of each process that the tracer has installed.
  [[nodiscard]] std::uint64_t tracer_filters() const { return tracer_filters_; }
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] bool alters_privileges() const { return alters_privileges_; }
  [[nodiscard]] bool live() const { return live_; }

 private:
  Process& process(pid_t pid);
  Step& add(Process& process, const Moment& moment, Step::Kind kind);
  void add_failure(Process& process, const Moment& moment, Call call);
  void add_success(Process& process, const Moment& moment, Call call);
  void add_exec(Process& process, const Moment& moment, Call call);
  void add_write(Process& process, const Moment& moment, Call call, std::int64_t fd);
  void add_wait(Process& process, const Moment& moment, const Call& call);
  void count_tracer_filters(const Process& process);
  [[nodiscard]] bool is_hidden(const Process& process, const Moment& moment, std::int64_t fd) const;

  bool live_;
  bool complete_;
  bool alters_privileges_;
  std::map<pid_t, Process> processes_;
  /// The processes that have ended, those that failed last, then by their order: they are dropped where there are too
  /// many.
  std::map<std::pair<bool, std::uint64_t>, pid_t> ended_;
  pid_t first_ = 0;
  Time start_time_{};
  std::uint64_t order_ = 0;
  std::optional<std::string> error_output_;  ///< where the first process's standard error goes
  std::uint64_t tracer_filters_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace tracer::explain
