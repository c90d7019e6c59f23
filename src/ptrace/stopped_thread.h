// A traced thread is a Running or a Stopped, and only a Stopped has registers. A wait makes the one of the other, and
// nothing else does. This is the only module that calls ptrace(2), wait4(2) and waitid(2).
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "arch/arch.h"
#include "base/remote_addr.h"
#include "base/result.h"

namespace tracer::ptrace {

/// What a wait status says about a stop of a seized thread (ptrace(2), "Stopped states").
enum class StopKind : std::uint8_t {
  syscall,      ///< at the entry or the exit of a call
  seccomp,      ///< a filter has asked for the tracer at the entry of a call
  signal,       ///< signal-delivery-stop
  group_stop,   ///< job control has stopped the process
  interrupted,  ///< PTRACE_INTERRUPT, a new thread's first stop, or the end of a group-stop
  fork,         ///< fork, vfork or clone: a child exists
  exec,
  exit,  ///< the thread is about to end, whatever it was doing
  other,
};

struct Stop {
  StopKind kind = StopKind::other;
  int signal = 0;  ///< of signal and group_stop
};

/// Decodes the status of a thread for which WIFSTOPPED holds.
Stop stop_of(int wait_status);

enum class Direction : std::uint8_t { unknown, entry, exit, neither };

/// Where a thread stands, as PTRACE_GET_SYSCALL_INFO or its registers say.
struct CallState {
  Direction direction = Direction::neither;
  Abi abi{};
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
  std::int64_t result = 0;
  bool is_error = false;
  std::uint64_t instruction_pointer = 0;
  std::uint64_t stack_pointer = 0;
  std::optional<std::uint16_t> filter_data;  ///< of SECCOMP_RET_TRACE, where that has stopped it and is known
};

/// Where the calls of a thread go on as ever under syscall user dispatch; calls from elsewhere raise SIGSYS instead.
struct Dispatch {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t selector = 0;  ///< address of a byte by which the memory's owner turns it off and on
};

/// How a thread goes on.
enum class Resume : std::uint8_t {
  to_next_call,  ///< PTRACE_SYSCALL
  freely,        ///< PTRACE_CONT: to the next signal, event or seccomp stop
  listening,     ///< PTRACE_LISTEN: stays in its group-stop
};

class Stopped;
struct Exited;
struct Report;
enum class Waiting : std::uint8_t { block, poll };

class Running {
 public:
  /// PTRACE_SEIZE.
  static Result<Running> seize(pid_t tid, unsigned options);
  /// A child or thread that the kernel attached for us.
  static Running followed(pid_t tid) { return Running(tid); }

  Running(Running&&) noexcept = default;
  Running& operator=(Running&&) noexcept = default;

  [[nodiscard]] pid_t tid() const { return tid_; }
  /// PTRACE_INTERRUPT; a wait reports the stop. False if the thread is gone.
  bool interrupt() const;

 private:
  friend class Stopped;
  explicit Running(pid_t tid) : tid_(tid) {}
  pid_t tid_;
};

/// Any of these may fail because the thread was killed meanwhile; a wait reports its end then.
class Stopped {
 public:
  Stopped(Stopped&&) noexcept = default;
  Stopped& operator=(Stopped&&) noexcept = default;

  [[nodiscard]] pid_t tid() const { return tid_; }

  /// PTRACE_GET_SYSCALL_INFO. Linux before 5.3 and some sandboxes refuse it (an error other than ESRCH).
  [[nodiscard]] Result<CallState> call_state() const;
  /// The same from the registers; the direction is `entry` or `exit` as `expected`, or a guess if that is unknown.
  [[nodiscard]] Result<CallState> call_state_from_registers(Direction expected) const;
  /// At the entry of a call: whether PTRACE_SET_SYSCALL_INFO works. Changes nothing.
  [[nodiscard]] bool can_set_call_state() const;

  [[nodiscard]] Result<arch::Registers> registers() const;
  Status set_registers(const arch::Registers& registers) const;
  /// The same, of a thread whose registers are `former`. Costs less if only the instruction pointer differs.
  Status set_registers(const arch::Registers& registers, const arch::Registers& former) const;

  /// At the entry of a call: makes the call of this number run (as in the register), or none with -1.
  Status set_call_number(std::uint64_t raw_number) const;
  /// At a stop in a call.
  Status set_first_argument(Abi abi, std::uint64_t value) const;
  /// At the exit of a call, or at the entry of one that does not run. `value` is -errno for an error.
  Status set_call_result(std::int64_t value, bool is_error) const;

  /// PTRACE_GETEVENTMSG: a child's id or a former thread id.
  [[nodiscard]] std::optional<pid_t> event_message() const;
  /// PTRACE_EVENT_*, if that is what it stopped for; else 0.
  [[nodiscard]] int event() const;
  /// PTRACE_GETSIGINFO; false if it is not known.
  bool signal_info(siginfo_t& info) const;
  /// PTRACE_PEEKDATA of one word.
  [[nodiscard]] std::optional<long> peek(RemoteAddr address) const;
  /// PTRACE_POKEDATA of as many words as it takes, in read-only pages too. On failure the first of them may be written.
  Status write(RemoteAddr address, std::span<const std::byte> bytes) const;

  /// Runs one instruction, with the signals blocked that it does not raise itself. The thread is stopped again
  /// afterwards. An error if it has stopped for another reason or is gone, which is yet to be waited for: it counts as
  /// running then (went_on). EINTR: it is stopped, but had to wait for something, and has to start the instruction
  /// again.
  Status step() const;
  /// The same, but SIGSTOP, which nobody can block, does not end the step: it is delivered, and the thread has gone on
  /// in the group-stop. Another stop, with the same reason, follows then.
  Status step_through_stops() const;
  /// The same as step(), through the stop that our seccomp filter makes at a call, which is not reported.
  Status step_through_filter() const;
  /// The stop signals that were delivered so, and so will never be waited for.
  [[nodiscard]] std::vector<siginfo_t> take_stop_signals() const { return std::exchange(stop_signals_, {}); }
  /// What it is after a step() that has failed.
  [[nodiscard]] Running went_on() && { return Running(tid_); }

  /// PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG (Linux 6.4); nothing: turns it off.
  Status set_dispatch(const std::optional<Dispatch>& dispatch) const;
  /// Whether it is on, by whomever.
  [[nodiscard]] bool has_dispatch() const;
  /// Whether a call has raised SIGSYS by that, which has not stopped the thread yet.
  [[nodiscard]] bool is_about_to_stop_for_dispatch() const;
  /// PTRACE_GETSIGMASK: whether the thread blocks the signal.
  [[nodiscard]] bool blocks(int signal) const;

  /// PTRACE_GETREGSET of another set than registers(): NT_FPREGSET and the like. How many bytes there are.
  [[nodiscard]] std::size_t register_set(unsigned which, std::span<std::byte> into) const;

  /// Delivers `signal` (0: none). If the thread is gone, its end is yet to be waited for, as of any running one.
  [[nodiscard]] Running resume(Resume how, int signal) &&;
  /// PTRACE_DETACH; delivers `signal`.
  void detach(int signal) &&;

 private:
  friend Result<std::optional<Report>> wait_for_any(Waiting waiting, bool with_system_time);
  friend Result<std::variant<Stopped, Exited>> wait_for(Running thread);
  explicit Stopped(pid_t tid) : tid_(tid) {}
  /// `delivered`: where SIGSTOP is noted and delivered; null: it ends the step. So do stops of a seccomp filter unless
  /// `through_filter`.
  Status step(std::vector<siginfo_t>* delivered, bool through_filter) const;
  pid_t tid_;
  mutable std::vector<siginfo_t> stop_signals_;
};

/// A tracee or child that has ended.
struct Exited {
  pid_t tid = 0;
  int status = 0;  ///< as from waitpid(2)
};

/// One report of wait4(2).
struct Report {
  std::variant<Stopped, Exited> thread;
  int status = 0;
  std::chrono::nanoseconds system_time{};  ///< of the thread so far; only if asked for

  [[nodiscard]] pid_t tid() const;
  [[nodiscard]] bool is_stop() const { return std::holds_alternative<Stopped>(thread); }
};

/// Waits for any tracee or child. Empty if there is nothing to report (poll), or if a signal came in between (block);
/// an error only for ECHILD: there is nothing left to wait for.
Result<std::optional<Report>> wait_for_any(Waiting waiting, bool with_system_time);

/// Waits for this thread to stop or to end; an error if it is gone.
Result<std::variant<Stopped, Exited>> wait_for(Running thread);

/// Whether a wait would report something of this tracee or child at once.
bool has_report(pid_t tid);

/// Whether syscall user dispatch has raised this signal, or the program says so of its own.
bool is_dispatch(const siginfo_t& info);

/// Whether the kernel lets a tracer set a thread's dispatch.
bool can_set_dispatch();

/// PTRACE_PEEKDATA for LiveMemory, which has the id of a thread that is stopped.
std::optional<long> peek_word(pid_t tid, RemoteAddr address);

/// Ends a child of the tracer's own by SIGKILL, and waits for its end.
void kill_and_collect(pid_t pid);

}  // namespace tracer::ptrace
