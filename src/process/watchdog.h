// Ends a tracer that is asked to end while it waits in the kernel where no signal reaches it: in open(2) on a file
// system that hangs, in process_vm_readv(2) on memory that userfaultfd serves, in write(2) to a full pipe, or computes
// without an end. The kernel lets all tracees go then.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::process {

/// A thread that takes the signals first and hands them to its owner. If the owner does not take one, and sleeps for a
/// second or computes for five, the signal ends the process. So it does if the owner ends and then sleeps for a second
/// in one system call that waits for nobody, such as in writing that it lets its tracees go.
class Watchdog {
 public:
  /// `watched`: signals that end tracing, which the caller, the owner, has blocked and waits for.
  explicit Watchdog(const sigset_t& watched);
  /// Signals go to the owner again.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Called by the owner, which ends because of this signal.
  void owner_ends(int signal);

 private:
  static void* start(void* self);
  void run();
  /// What the owner has made of the signals that it was handed.
  enum class Owner : std::uint8_t { has_taken_them, is_busy, sleeps, computes_too_long };
  /// `sleeps`: since the last question.
  Owner ask_owner();
  /// Whether the owner is in the system call of the last question, and that one waits for nobody.
  bool is_stuck();
  [[noreturn]] static void end_by(int signal, std::string_view why);

  sigset_t watched_;
  pthread_t owner_;
  pid_t owner_tid_;
  pthread_t thread_{};
  bool runs_ = false;
  std::atomic<bool> stops_ = false;
  std::atomic<int> ends_by_ = 0;  ///< the signal that the owner ends because of; 0: it does not end yet
  std::int64_t used_ = 0;         ///< the owner's processor time, in nanoseconds
  std::int64_t computed_ = 0;     ///< of it, since it was handed a signal
  std::string call_;              ///< the owner's system call at the last question, with its arguments
};

}  // namespace tracer::process
