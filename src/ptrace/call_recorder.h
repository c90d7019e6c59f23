// What the ptrace engine asks of a recorder inside the tracees, to which threads make calls without a stop, and what
// that reports to the engine.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptrace/stopped_thread.h"
#include "trace/call_totals.h"
#include "trace/event.h"
#include "trace/function_recorder.h"
#include "trace/memory.h"

namespace tracer::ptrace {

struct Tracee;

/// When the engine can detach from a stopped thread in whose process calls were recorded.
enum class Leaving : std::uint8_t {
  now,
  with_others,  ///< it is to stay stopped until all threads of its process are: see CallRecorder::prepare_detach()
  at_rest,      ///< it has to make a call for us, which it can do where PTRACE_INTERRUPT stops it
  after_stop,   ///< it has stopped once more already, which is yet to be waited for
};

/// Calls that our seccomp filter lets pass although they are wanted.
struct Exemption {
  std::uint64_t page = 0;  ///< those made in this page; what has its address, or a near one, first always stops
  std::uint64_t page_size = 0;
  std::uint64_t number = 0;         ///< and those of this number
  std::uint64_t last_argument = 0;  ///< with this sixth argument, which nobody else knows
};

/// Takes what threads have recorded.
class RecordedCalls {
 public:
  RecordedCalls() = default;
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;
  virtual ~RecordedCalls() = default;

  /// A SyscallEnter or SyscallExit of an earlier moment. Its thread is filled in.
  virtual void on_recorded(pid_t tid, trace::Event& event, const trace::Memory& memory) = 0;
  /// The same of a call of a function, or a return from one.
  virtual void on_recorded(const trace::FunctionRecorder::Hit& hit) = 0;
  /// A thread's records are not what a recorder writes: what they had is lost.
  virtual void on_damaged(pid_t tid) = 0;
  /// The stopped thread has left a recorded call, of which it could not record that itself.
  virtual void on_left(Tracee& tracee, const trace::SyscallExit& exit) = 0;
  /// So many calls were made that were not recorded one by one.
  virtual void on_counted(std::span<const trace::CallTotals> calls) = 0;
  /// The stopped thread got this signal, while it did something for the recorder, too. `info`: null if it is not known.
  virtual void report_signal(Tracee& tracee, int signal, const siginfo_t* info) = 0;
  /// The thread with this id; null if it is none of ours.
  [[nodiscard]] virtual Tracee* find_tracee(pid_t tid) = 0;
};

/// All tracees are stopped threads, but for `child` of inherit() and the thread of leave(), which may have ended.
class CallRecorder {
 public:
  CallRecorder() = default;
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;
  virtual ~CallRecorder() = default;

  [[nodiscard]] virtual Exemption exemption() const = 0;
  /// Reports all that was recorded until now.
  virtual void collect() = 0;
  /// When to collect at the latest, by CLOCK_MONOTONIC.
  [[nodiscard]] virtual std::chrono::nanoseconds due() const = 0;
  /// A thread has stopped: collect(), and if a signal has stopped it in code of ours, puts it where it would be without
  /// us. True if the signal came from that code and is nothing to the program.
  virtual bool on_stop(Tracee& tracee, const Stop& stop) = 0;
  /// The thread is at the entry of a call.
  virtual void before_call(Tracee& tracee, const CallState& state) = 0;
  /// The thread is at the exit of a call, which has been reported: the next ones at this place may be recorded inside.
  virtual void after_call(Tracee& tracee, const CallState& state) = 0;
  /// A jump through a linkage table, which a stub is to take the place of.
  struct FunctionPlace {
    std::uint64_t address = 0;
    std::uint64_t slot = 0;  ///< address of the word that says where it goes
    const trace::LibraryFunction* function = nullptr;
    std::optional<trace::ErrnoPlace> errno_place;
  };
  /// Where stubs lead to, and what the functions return to.
  struct FunctionCode {
    std::uint64_t entry = 0;  ///< 0: no calls of functions are recorded
    std::uint64_t exit = 0;
  };
  [[nodiscard]] virtual FunctionCode function_code() const = 0;
  /// The thread, which is in no call, is to record calls of functions. `instruction`: a call instruction of its own.
  /// False: it cannot, or not now.
  virtual bool admit(Tracee& tracee, std::uint64_t instruction) = 0;
  /// What a stub there has to hold for the recorder, or why calls of this function cannot be recorded.
  virtual Result<std::vector<std::byte>> describe_function(const Tracee& tracee, const FunctionPlace& place) = 0;
  /// `parent` has created `child`, which has not run yet.
  virtual void inherit(const Tracee& parent, const Tracee& child, bool shares_memory) = 0;
  /// The thread ends, or has ended.
  virtual void leave(Tracee& tracee) = 0;
  /// The thread has executed another program. Its id was `former`.
  virtual void on_exec(Tracee& tracee, pid_t former) = 0;
  /// The process is about to get a seccomp filter of its own: every call has to stop from now on.
  virtual void distrust(Tracee& tracee) = 0;
  /// Why calls of a process that runs cannot be recorded, with a remedy; empty if they can, or nobody knows.
  [[nodiscard]] virtual std::string why_not_attach(pid_t process) const = 0;
  /// The engine is about to detach from the thread: puts it where it would be without us, and has it make no calls by
  /// the recorder any more. False: it must run on to the stop for a signal that was raised on our behalf.
  virtual bool take_out_for_good(Tracee& tracee) = 0;
  /// The engine is about to detach from the thread, which lives on and was taken out so. The last one
  /// of its process takes out of the memory what is ours; then all can go.
  virtual Leaving prepare_detach(Tracee& tracee) = 0;
  /// Some threads do not stop: what is ours stays, in a state that needs no tracer.
  virtual void abandon() = 0;
  /// Nothing that is recorded from now on is of interest: reports what was counted.
  virtual void conclude() = 0;
};

/// Makes a recorder that reports to this sink.
using MakeCallRecorder = std::function<std::unique_ptr<CallRecorder>(RecordedCalls&)>;

}  // namespace tracer::ptrace
