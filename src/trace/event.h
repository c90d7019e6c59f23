// What an engine saw. Plain values; the handler borrows them for the time of one call.
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

struct Circumstances;
class StackSource;

struct SyscallEnter {
  std::uint64_t number = 0;             ///< as in the register; without the x32 bit
  std::array<std::uint64_t, 6> args{};  ///< zero-extended on 32-bit ABIs
  std::uint64_t instruction_pointer = 0;
  std::uint64_t stack_pointer = 0;
  Tampered tampered;  ///< so far; `result`: the call will not run and has a result
};

struct SyscallExit {
  std::int64_t value = 0;  ///< the result register, sign-extended; -errno on error
  /// As the kernel says (PTRACE_SYSCALL_INFO_EXIT), not guessed from the value; of an injected result, as asked for.
  bool is_error = false;
  std::uint64_t instruction_pointer = 0;
  /// System CPU time that the call took, where the engine was asked for it (EngineOptions::cpu_time).
  std::chrono::nanoseconds cpu_time{};
  Tampered tampered;  ///< in all
};

/// The thread went away inside a call, or was found inside one when it was attached: no result is known.
struct SyscallLost {};

/// A signal is about to be delivered.
struct SignalStop {
  int signal = 0;
  std::span<const std::byte> siginfo;     ///< raw, in the tracee's kernel layout (host's siginfo_t); empty if unknown
  std::uint64_t instruction_pointer = 0;  ///< where the thread was interrupted; 0 if unknown
};

/// The whole thread group stopped (SIGSTOP, SIGTSTP, …): `--- stopped by SIGSTOP ---`.
struct GroupStop {
  int signal = 0;
};

/// execve succeeded; its SyscallExit follows. With threads, the one that called it takes the leader's id: then
/// Event::tid is the leader's, `former_tid` is never heard of again, and what the leader was has ended (with a
/// SyscallLost for it before, if it was inside a call).
struct Exec {
  pid_t former_tid = 0;  ///< equal to Event::tid if nothing changed
  /// Of the new program's calls; empty where it is not known before the first of them.
  std::optional<Abi> abi = std::nullopt;
};

struct Fork {
  pid_t child = 0;
  bool is_thread = false;
};

/// First event of every thread but that of a launched program.
struct Attached {
  std::string_view command;  ///< argv[0], for the note "Process N attached"; empty if unknown
  bool by_request = false;   ///< -p, as against a followed child
  unsigned threads = 1;      ///< -p: how many were attached with this one; 0 for each of the others
};

/// The thread goes on untraced. If it was inside a call, nothing more comes for that call.
struct Detached {};

/// The thread is gone. `status` is as from waitpid(2).
struct Exited {
  int status = 0;
};

/// For every thread: Attached first; each SyscallEnter is followed by its SyscallExit or SyscallLost unless Detached
/// comes instead; Exited or Detached is last. Each LibraryEnter is followed by its LibraryExit unless Detached comes
/// first; those of nested calls come before, unless a coroutine goes on that was left inside of others.
struct Event {
  pid_t tid = 0;
  pid_t tgid = 0;
  Abi abi = Abi::x86_64;
  EventTime time;
  const StackSource* stack = nullptr;  ///< null: the engine knows nothing of it
  /// What was captured then, of a thread that has gone on since; null: it stands still, and /proc tells.
  const Circumstances* circumstances = nullptr;
  std::variant<SyscallEnter, SyscallExit, SyscallLost, SignalStop, GroupStop, Exec, Fork, Attached, Detached, Exited,
               LibraryEnter, LibraryExit, LibraryCalls, ProbeHit>
      what;
};

}  // namespace tracer::trace
