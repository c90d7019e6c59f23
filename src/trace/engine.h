// The seam between engines and everything else: events and a memory go out, a verdict comes back.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "trace/call_totals.h"
#include "trace/event.h"
#include "trace/memory.h"
#include "trace/tampering.h"

namespace tracer::trace {

/// What the engine shall do with the thread that an event came from.
enum class Verdict : std::uint8_t {
  go_on,
  detach,      ///< this process
  detach_all,  ///< end tracing; every tracee goes on unharmed
};

class EventHandler {
 public:
  EventHandler() = default;
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;

  /// A thread is about to enter a call: `enter` is the SyscallEnter that handle() will get when this is done. What
  /// comes back outlives the engine's run; nullptr: nothing.
  virtual const Tampering* tamper([[maybe_unused]] const Event& enter, [[maybe_unused]] const Memory& memory) {
    return nullptr;
  }

  /// `memory` is the tracee's and is valid only during the call. A fork's child has its events only after Fork.
  virtual Verdict handle(const Event& event, const Memory& memory) = 0;

  /// From an engine that counts calls instead of reporting them, before its run ends.
  virtual void totals([[maybe_unused]] std::span<const CallTotals> calls) {}

  /// `events` events are missing between the last one and the next. An engine that loses some reports their number on
  /// standard error when it ends.
  virtual void lost([[maybe_unused]] std::uint64_t events) {}

  /// The engine is about to wait with nothing to do: the time to flush output that a person may be watching.
  virtual void idle() = 0;

  /// When on_alarm() is to be called, by CLOCK_MONOTONIC, whatever else happens; empty: never.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> alarm_at() const { return std::nullopt; }
  virtual Verdict on_alarm() { return Verdict::go_on; }
};

/// Call numbers that an engine may leave unreported, one set for each ABI. Numbers past the end are always wanted.
inline constexpr std::size_t max_filtered_number = 1024;
using WantedCalls = std::array<std::bitset<max_filtered_number>, abi_count>;

/// How a run ended, for the tracer's own exit.
struct RunEnd {
  /// Wait status of the launched program; empty with -p only, or when we detached from it.
  std::optional<int> program_status;
  /// Why the launched program could not be executed (its process has said so on standard error); 0 if it could.
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

  /// The tracer is about to end: main calls this last, with all output written and closed, and then ends itself as
  /// `wait_status` (waitpid(2)) says. An engine whose tracees cannot be left alone yet reports that end in another way
  /// and stays in the background until they can; then this does not return.
  virtual void finish([[maybe_unused]] int wait_status) {}
};

}  // namespace tracer::trace
