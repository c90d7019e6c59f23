// The interface between engines and the rest: the engine passes events and memory, and gets a verdict.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "trace/call_totals.h"
#include "trace/event.h"
#include "trace/memory.h"
#include "trace/tampering.h"

namespace tracer::trace {

/// What the engine does with the thread of an event.
enum class Verdict : std::uint8_t {
  go_on,
  detach,      ///< detach from this process
  detach_all,  ///< detach from all tracees and end tracing
};

class EventHandler {
 public:
  EventHandler() = default;
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;

  /// Called before the SyscallEnter `enter` is passed to handle(). Returns what to do to the call, which outlives the
  /// engine's run; null: nothing.
  virtual const Tampering* tamper([[maybe_unused]] const Event& enter, [[maybe_unused]] const Memory& memory) {
    return nullptr;
  }

  /// `memory` is that of the tracee; it is valid only during the call. Events of a child follow the Fork of its parent.
  virtual Verdict handle(const Event& event, const Memory& memory) = 0;

  /// Called by an engine that counts calls instead of reporting them, before its run ends.
  virtual void totals([[maybe_unused]] std::span<const CallTotals> calls) {}

  /// `events` events are missing between the last one and the next. An engine that loses some reports their number on
  /// standard error when it ends.
  virtual void lost([[maybe_unused]] std::uint64_t events) {}

  /// Called before the engine waits for events: output should be flushed, as a person may be watching.
  virtual void idle() = 0;

  /// Returns the time (CLOCK_MONOTONIC) at which on_alarm() has to be called; empty: never.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> alarm_at() const { return std::nullopt; }
  virtual Verdict on_alarm() { return Verdict::go_on; }
};

/// The call numbers that an engine has to report, one set for each ABI. Numbers past the end are always wanted.
inline constexpr std::size_t max_filtered_number = 1024;
using WantedCalls = std::array<std::bitset<max_filtered_number>, abi_count>;

/// Calls that are wanted only with some values of their second argument, which says what they do: fcntl(2).
struct WantedCommands {
  WantedCalls calls;
  std::vector<std::uint32_t> commands;
};

/// How a run ended, for the exit status of the tracer.
struct RunEnd {
  /// The wait status of the launched program; empty with -p only, or if the tracer detached from it.
  std::optional<int> program_status;
  /// The errno of the execve of the launched program, which its process has reported on standard error; 0: success.
  int exec_error = 0;
  bool interrupted_by_signal = false;
  int interrupting_signal = 0;
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// Traces until no tracee is left or the handler says detach_all.
  virtual Result<RunEnd> run(EventHandler& handler) = 0;

  /// Called last, with all output written and closed, before the tracer ends as `wait_status` (waitpid(2)) says. An
  /// engine that cannot detach from its tracees yet reports that status through another process, stays in the
  /// background until it can, and does not return.
  virtual void finish([[maybe_unused]] int wait_status) {}
};

}  // namespace tracer::trace
