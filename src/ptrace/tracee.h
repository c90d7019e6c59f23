// What the engine knows of one thread, and the table of all of them.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "arch/arch.h"
#include "proc/proc_files.h"
#include "ptrace/function_hooks.h"
#include "ptrace/live_memory.h"
#include "ptrace/stopped_thread.h"
#include "trace/tampering.h"

namespace tracer::ptrace {

/// What the handler gets to see of a thread.
enum class Visibility : std::uint8_t {
  launching,  ///< between fork and its execve
  visible,
  suppressed,  ///< not reported at all: it is traced only because it has our seccomp filter
  exit_only,   ///< it was suppressed, but an execve has made it the leader of a visible one's process
};

/// What is done to the call that a thread is in.
struct CallTampering {
  const trace::Tampering* wish = nullptr;  ///< the handler's; null: nothing (more)
  trace::Tampered done;
  std::array<std::uint64_t, 6> args{};
  std::optional<trace::Tampering::Result> owed;  ///< the call does not run; this has yet to be put in at its exit
};

/// CLONE_UNTRACED, which the kernel must not see (untraced_clones.cpp), is yet to be put back.
struct HiddenFlag {
  std::uint64_t flags = 0;
  RemoteAddr address;  ///< where they stand in memory; null: in the first argument
};

struct Tracee {
  Tracee(Running running, pid_t process, Visibility seen)
      : thread(std::move(running)), memory(tid()), tgid(process), visibility(seen) {}

  [[nodiscard]] pid_t tid() const {
    return std::visit([](const auto& state) { return state.tid(); }, thread);
  }
  [[nodiscard]] bool visible() const { return visibility == Visibility::visible; }
  /// Its calls, signals and stops are not reported.
  [[nodiscard]] bool is_suppressed() const {
    return visibility == Visibility::suppressed || visibility == Visibility::exit_only;
  }

  std::variant<Running, Stopped> thread;
  LiveMemory memory;
  pid_t tgid;
  Abi abi{};
  Visibility visibility;
  bool in_call = false;        ///< between the two stops of a call, reported or not
  bool call_reported = false;  ///< SyscallEnter was reported, and nothing yet that ends it
  bool direction_known = false;
  bool found_running = false;  ///< it was attached with -p and has not stopped since
  /// The number of the call that it was in then, until its next call.
  std::optional<std::uint64_t> interrupted_call;
  bool filtered = false;  ///< it has our seccomp filter and stops only where that says so
  bool stops_at_all =
      false;  ///< it stops at every call all the same: it has a filter of its own besides, or uses two ABIs
  bool installing_filter = false;  ///< it is in a call that gives it a filter of its own
  bool recorded = false;           ///< its process has, or may get, a recorder of calls in its memory
  bool dispatched = false;         ///< calls that are not recorded raise SIGSYS, so it need not stop at each
  bool detaching = false;
  bool waits_to_detach = false;  ///< it is stopped, and cannot be detached from before others are
  std::optional<HiddenFlag> hidden_untraced;
  CallTampering tampering;
  std::unique_ptr<ThreadFunctions> functions;  ///< null: its functions are not traced
  const arch::Registers* without_trap =
      nullptr;  ///< while a breakpoint is reported: what its registers would be but for that
  std::optional<std::chrono::nanoseconds> held_until;  ///< stopped until then, by CLOCK_MONOTONIC
  int held_signal = 0;                                 ///< to be delivered then
  std::chrono::nanoseconds system_time{};              ///< at the last stop
  std::chrono::nanoseconds call_system_time{};         ///< at the entry of the call
};

/// The thread of a tracee that is known to be stopped.
inline const Stopped& stopped_thread(const Tracee& tracee) {
  return std::get<Stopped>(tracee.thread);
}

class TraceeTable {
 public:
  Tracee* find(pid_t tid) {
    if (last_ != nullptr && last_tid_ == tid) {
      return last_;
    }
    const auto at = threads_.find(tid);
    if (at == threads_.end()) {
      return nullptr;
    }
    last_ = at->second.get();
    last_tid_ = tid;
    return last_;
  }

  Tracee& add(Running thread, pid_t tgid, Visibility visibility) {
    const pid_t tid = thread.tid();
    erase(tid);
    auto& place = threads_[tid];
    suppressed_ += visibility == Visibility::suppressed ? 1 : 0;
    place = std::make_unique<Tracee>(std::move(thread), tgid, visibility);
    choose_reader(*place);
    return *place;
  }

  /// A foreign process must not be able to hang the thread that all tracees depend on. Its owner is looked at when it
  /// appears and when it becomes another program.
  void choose_reader(Tracee& tracee) {
    tracee.memory.read_in(proc::is_foreign(tracee.tid()) ? &foreign_reader_ : nullptr);
  }

  void erase(pid_t tid) {
    if (const Tracee* tracee = find(tid); tracee != nullptr) {
      suppressed_ -= tracee->visibility == Visibility::suppressed ? 1 : 0;
      last_ = nullptr;
      threads_.erase(tid);
    }
  }

  /// `tracee` goes on under the id `tid`, whose former owner is gone.
  Tracee& take_over(Tracee& tracee, pid_t tid) {
    const pid_t former = tracee.tid();
    erase(tid);
    last_ = nullptr;
    auto node = threads_.extract(former);
    node.key() = tid;
    tracee.thread = Running::followed(tid);
    tracee.memory.move_to(tid);
    threads_.insert(std::move(node));
    return tracee;
  }

  void set_visibility(Tracee& tracee, Visibility visibility) {
    suppressed_ -= tracee.visibility == Visibility::suppressed ? 1 : 0;
    suppressed_ += visibility == Visibility::suppressed ? 1 : 0;
    tracee.visibility = visibility;
  }

  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  /// How many are suppressed.
  [[nodiscard]] std::size_t suppressed() const { return suppressed_; }

  /// The ids of the threads for which `predicate` holds; the table may be changed while walking through them.
  template <typename Predicate>
  [[nodiscard]] std::vector<pid_t> select(Predicate predicate) const {
    std::vector<pid_t> found;
    for (const auto& [tid, tracee] : threads_) {
      if (predicate(*tracee)) {
        found.push_back(tid);
      }
    }
    return found;
  }

 private:
  MemoryProcess foreign_reader_;  ///< of the memory of foreign tracees
  std::unordered_map<pid_t, std::unique_ptr<Tracee>> threads_;
  std::size_t suppressed_ = 0;
  Tracee* last_ = nullptr;
  pid_t last_tid_ = 0;
};

}  // namespace tracer::ptrace
