// Threads that signals keep from running. A stop may cost more than the period of a timer: its next signal is pending
// then when the handler returns, so that the thread would not run a single instruction ever again. Such a thread first
// runs a few instructions, with signals held back, and gets the signal then, as it might have without us.
#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <optional>

namespace tracer::ptrace {

class FunctionHooks;
struct Tracee;

/// What is known of a thread's signals.
struct SignalProgress {
  struct Position {
    std::uint64_t instruction_pointer = 0;
    std::uint64_t stack_pointer = 0;
    bool operator==(const Position&) const = default;
  };
  /// Where the last ones were delivered: handlers of some may be interrupted by others.
  std::array<Position, 4> delivered_at{};
  std::size_t next = 0;      ///< of these to be replaced
  unsigned repetitions = 0;  ///< how often it had not moved, up to the limit
  /// It runs to the entry of a system call, which is ahead, without signals.
  struct Held {
    std::uint64_t mask = 0;  ///< the signals that it blocks itself
    siginfo_t signal{};
  };
  std::optional<Held> held;
  std::optional<siginfo_t> requeued;  ///< what the signal was that was sent again
};

enum class Delivery : std::uint8_t {
  now,    ///< the signal can be delivered
  later,  ///< it comes again: the thread goes on without it, if it is still stopped
};

/// At the stop of a thread by a signal: lets it run on a little if it has not since the last ones. `functions`: null if
/// none are traced.
Delivery make_progress(Tracee& tracee, FunctionHooks* functions);
/// At any stop: ends what make_progress() has begun.
void end_hold(Tracee& tracee);

}  // namespace tracer::ptrace
