// Events of an engine. They are plain values, valid while the handler runs.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "base/abi.h"
#include "trace/library_call.h"
#include "trace/static_probe.h"
#include "trace/tampering.h"

namespace tracer::trace {

/// Time of an event since the epoch of CLOCK_REALTIME and of CLOCK_MONOTONIC, in nanoseconds.
struct EventTime {
  std::chrono::nanoseconds realtime{};
  std::chrono::nanoseconds monotonic{};
};

class StackSource;

struct SyscallEnter {
  std::uint64_t number = 0;             ///< the value of the register, without the x32 bit
  std::array<std::uint64_t, 6> args{};  ///< zero-extended on 32-bit ABIs
  std::uint64_t instruction_pointer = 0;
  std::uint64_t stack_pointer = 0;
  Tampered tampered;  ///< what was changed so far; `result`: the call does not run
  /// The number of the call that the thread was in when the tracer attached, in its first call after that:
  /// restart_syscall continues it.
  std::optional<std::uint64_t> interrupted = std::nullopt;
};

struct SyscallExit {
  std::int64_t value = 0;  ///< the result register, sign-extended; -errno on error
  /// From the kernel (PTRACE_SYSCALL_INFO_EXIT), not guessed from the value; for an injected result, from the rule.
  bool is_error = false;
  std::uint64_t instruction_pointer = 0;
  /// The system CPU time of the call, if the engine was asked for it (EngineOptions::cpu_time).
  std::chrono::nanoseconds cpu_time{};
  Tampered tampered;  ///< all that was changed
};

/// The result of the call is unknown: the thread ended inside it, or was inside it when the tracer attached.
struct SyscallLost {};

/// A signal is about to be delivered.
struct SignalStop {
  int signal = 0;
  std::span<const std::byte> siginfo;     ///< a siginfo_t in the layout of the host; empty if unknown
  std::uint64_t instruction_pointer = 0;  ///< where the thread was interrupted; 0 if unknown
};

/// A group-stop (SIGSTOP, SIGTSTP, …): `--- stopped by SIGSTOP ---`.
struct GroupStop {
  int signal = 0;
};

/// execve succeeded; its SyscallExit follows. If a thread other than the thread group leader called it, the thread
/// takes the leader's id: Event::tid is that id, there are no more events of `former_tid`, and the former leader has
/// ended (a SyscallLost precedes, if it was inside a call).
struct Exec {
  pid_t former_tid = 0;  ///< equal to Event::tid if nothing changed
  /// The ABI of the new program; empty if it is unknown until its first call.
  std::optional<Abi> abi = std::nullopt;
};

struct Fork {
  pid_t child = 0;
  bool is_thread = false;
};

/// The first event of every thread but that of a launched program.
struct Attached {
  std::string_view command;  ///< argv[0], for the note "Process N attached"; empty if unknown
  bool by_request = false;   ///< attached with -p; false: a followed child
  unsigned threads = 1;      ///< -p: how many threads were attached together; 0 for all but one of them
};

/// The tracer has detached from the thread. A call that was open has no other event.
struct Detached {};

/// The thread has ended. `status` is that of waitpid(2).
struct Exited {
  int status = 0;
};

/// For every thread Attached is the first event, and Exited or Detached is the last. Each SyscallEnter is followed by
/// its SyscallExit or SyscallLost, unless Detached comes instead. Each LibraryEnter is followed by its LibraryExit,
/// unless Detached comes first. The exits of nested calls come first, unless a coroutine that was suspended inside
/// others is resumed.
struct Event {
  pid_t tid = 0;
  pid_t tgid = 0;
  Abi abi = Abi::x86_64;
  EventTime time;
  const StackSource* stack = nullptr;  ///< null: unknown
  std::variant<SyscallEnter, SyscallExit, SyscallLost, SignalStop, GroupStop, Exec, Fork, Attached, Detached, Exited,
               LibraryEnter, LibraryExit, LibraryCalls, ProbeHit>
      what;
};

}  // namespace tracer::trace
