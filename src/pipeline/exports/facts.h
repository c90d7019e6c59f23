// What exports show of a run: processes, threads and calls as plain values.
//
// Times are nanoseconds of CLOCK_MONOTONIC. Names are printable already (base/printable.h) unless it says otherwise.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/exports/json.h"
#include "trace/stack.h"

namespace tracer::pipeline::exports {

using Time = std::chrono::nanoseconds;

/// A program that a process started to run.
struct Exec {
  Time time{};
  // As the execve had them, in bytes of the tracee; empty if the call was not traced.
  std::string path;
  std::vector<std::string> arguments;
  bool cut = false;  ///< some of it was truncated (-s), or left out
  std::size_t arguments_left_out = 0;
  /// What it changed in the environment of the program before: `+NAME=VALUE`, `NAME=VALUE` (another value), `-NAME`.
  /// Bytes of the tracee; empty for the first program, as nothing is known before.
  std::vector<std::string> environment_changes;
  std::size_t changes_left_out = 0;
};

struct Process {
  std::uint64_t id = 0;      ///< 1, 2, … in the order of appearance; a pid may come back
  std::uint64_t parent = 0;  ///< its id; 0: unknown
  pid_t pid = 0;
  std::string command;  ///< its name at its last execve, or when it appeared
  Time start{};
  std::optional<Time> end;    ///< of its last thread
  std::optional<int> status;  ///< that of waitpid(2); empty: it did not exit, or that was filtered out
  bool detached = false;
  unsigned threads = 0;              ///< that it has now
  std::vector<Exec> execs;           ///< the first one and the newest
  std::uint64_t execs_left_out = 0;  ///< after the first one
};

struct Thread {
  std::uint64_t id = 0;  ///< 1, 2, … in the order of appearance
  pid_t tid = 0;
  Process* process = nullptr;
  std::string command;
  Time start{};
  Time last{};  ///< of its last event
};

/// A call that is over.
struct Call {
  enum class End : std::uint8_t {
    returned,
    exit,     ///< the thread ended inside it, or an execve replaced its program
    unwound,  ///< an exception or longjmp left the function
    detach,
  };
  const Thread* thread = nullptr;
  std::string_view name;
  bool is_function = false;  ///< of a library; else a system call
  std::string_view module;   ///< of a function: where it is defined
  std::size_t depth = 0;     ///< how many functions are open around it
  Time start{};
  Time duration{};  ///< until it ended in whatever way
  End end = End::returned;
  bool failed = false;
  std::int64_t result = 0;            ///< -1 if it failed
  std::string_view error;             ///< of a failed one: ENOENT
  bool result_is_descriptor = false;  ///< and it is not negative
  /// The members `args`, `ret`, `errno` and `note` of docs/json.md; null if they cannot be read. Borrowed.
  const json_t* record = nullptr;
  std::span<const trace::StackFrame> stack;

  [[nodiscard]] const json_t* arguments() const { return json_object_get(record, "args"); }
};

/// A signal that a thread receives, or a stop of its process.
struct Signal {
  const Thread* thread = nullptr;
  Time time{};
  std::string_view name;
  bool is_stop = false;
  const json_t* information = nullptr;  ///< members of siginfo_t; null if unknown. Borrowed
};

/// What a call that did not return is marked with, the words of docs/json.md; empty if it returned.
[[nodiscard]] std::string_view unfinished(Call::End end);
/// A frame in one line: `libc.so.6(read+0x1f)`.
[[nodiscard]] std::string frame_text(const trace::StackFrame& frame);
/// The first argument that is a path, as JSON holds it; null if there is none. Borrowed.
[[nodiscard]] const json_t* path_argument(const json_t* arguments);
/// The first argument that is a descriptor; null if there is none. Borrowed.
[[nodiscard]] const json_t* descriptor_argument(const json_t* arguments);
/// Returns the name of a socket with the address that a call has for it in place of its inode, as `TCP:[->1.2.3.4:80]`
/// of connect and `TCP:[1.2.3.4:80]` of bind: nothing else says where a connection that failed was to go. Empty if the
/// call has none, or the name has addresses already.
[[nodiscard]] std::string name_with_address(std::string_view socket, std::string_view call, const json_t* arguments);
/// Whether the result of a call is the number of bytes that it transferred; more than zero: it received them, less: it
/// sent them.
[[nodiscard]] int byte_direction(std::string_view call);

}  // namespace tracer::pipeline::exports
