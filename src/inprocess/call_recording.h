// Records calls inside the tracees of the ptrace engine: which of their processes have the recorder, which threads use
// it, and how a thread gets out of it.
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arch/call_site.h"
#include "inprocess/call_counts.h"
#include "inprocess/image.h"
#include "inprocess/patcher.h"
#include "inprocess/ring_reader.h"
#include "inprocess/tick_clock.h"
#include "ptrace/call_recorder.h"
#include "ptrace/tracee.h"

namespace tracer::inprocess {

/// Takes a sentence for -d; may be empty.
using Say = std::function<void(const std::string&)>;

/// Whether the result is one by which the kernel says that it may restart a call: ERESTARTSYS to ERESTART_RESTARTBLOCK.
constexpr bool is_to_be_restarted(std::int64_t result) {
  constexpr std::int64_t first = -516;
  constexpr std::int64_t last = -512;
  return result >= first && result <= last;
}

/// How it comes that all calls stop that are not recorded.
enum class StopsBy : std::uint8_t {
  filter,    ///< the program that was started has our seccomp filter
  dispatch,  ///< syscall user dispatch, in threads that use the recorder; ptrace in others
};

class CallRecording final : public ptrace::CallRecorder {
 public:
  /// `sees_memory`: every call stops by which memory may go that could be read.
  CallRecording(ImageContents contents, StopsBy stops_by, bool sees_memory, ptrace::RecordedCalls& calls, Say debug);

  [[nodiscard]] ptrace::Exemption exemption() const override;
  void collect() override;
  [[nodiscard]] std::chrono::nanoseconds due() const override { return due_; }
  bool on_stop(ptrace::Tracee& tracee, const ptrace::Stop& stop) override;
  void before_call(ptrace::Tracee& tracee, const ptrace::CallState& state) override;
  void after_call(ptrace::Tracee& tracee, const ptrace::CallState& state) override;
  [[nodiscard]] FunctionCode function_code() const override;
  bool admit(ptrace::Tracee& tracee, std::uint64_t instruction) override;
  Result<std::vector<std::byte>> describe_function(const ptrace::Tracee& tracee, const FunctionPlace& place) override;
  void inherit(const ptrace::Tracee& parent, const ptrace::Tracee& child, bool shares_memory) override;
  void leave(ptrace::Tracee& tracee) override;
  void on_exec(ptrace::Tracee& tracee, pid_t former) override;
  void distrust(ptrace::Tracee& tracee) override;
  [[nodiscard]] std::string why_not_attach(pid_t process) const override;
  bool take_out_for_good(ptrace::Tracee& tracee) override;
  ptrace::Leaving prepare_detach(ptrace::Tracee& tracee) override;
  void abandon() override;
  void conclude() override;

 private:
  struct Site {
    unsigned stops = 0;
    std::optional<LeftBecause> decided;
  };
  struct OwnerPlace {
    std::uint64_t thread_pointer = 0;
    std::size_t place = 0;
    pid_t owner = 0;  ///< 0: it has ended
  };
  /// Processes that have their memory in common have one of these.
  struct Process {
    std::optional<Image> image;
    bool off = false;
    Patcher patcher;
    std::unordered_map<std::uint64_t, Site> sites;
    std::bitset<most_areas> used;
    std::vector<OwnerPlace> owners;
    std::vector<pid_t> unmapping;  ///< threads in calls by which memory may go
    bool remembers = true;         ///< which pages can be read, as it does not lose any but by such calls
    std::uint32_t generation = 0;
    std::uint64_t stack_start = 0;
    std::uint64_t call = 0;                ///< a call instruction of the program's own
    bool known_alone = false;              ///< no process that we do not know of has its memory
    bool cleaned = false;                  ///< nothing is left of ours but in children that were created before
    bool gave_way = false;                 ///< what is in the place of our memory may be the program's
    std::vector<pid_t> forking;            ///< threads in calls that may copy the memory, until that is done
    std::unordered_set<pid_t> left;        ///< stopped threads that are out of our code for good
    pid_t inside = 0;                      ///< one that was not when it was looked for; 0: none
    std::chrono::nanoseconds next_hold{};  ///< its threads are not to be held before
  };
  /// A thread that has its parent's thread-local data, as far as is known. Until they are known to differ, or one is
  /// gone, neither may have an area, in which both would run at once.
  struct Contest {
    pid_t parent = 0;
    std::uint64_t thread_pointer = 0;  ///< the parent's
  };
  struct Thread {
    std::shared_ptr<Process> process;
    std::size_t area;
    std::uint64_t thread_pointer;
    ThreadRing ring;
  };

  Process& process_of(const ptrace::Tracee& tracee);
  [[nodiscard]] Thread* find(pid_t tid);
  /// `found_no_more`: the process's table does not name its area any more.
  void forget(pid_t tid, bool found_no_more);
  /// All its calls stop from now on.
  void turn_off(Process& process);
  /// Turns off the processes whose root directory is no longer that of the tracer.
  void look_at_roots();
  void say_off(pid_t process, std::string_view because) const;
  /// Whether several processes have this memory.
  [[nodiscard]] bool is_shared(const Process& process) const;
  /// Takes the thread's area away, which nobody finds from then on if the thread is stopped.
  void withdraw(const ptrace::Tracee& tracee);
  [[nodiscard]] bool is_contested(pid_t tid) const;
  void consider(ptrace::Tracee& tracee, const ptrace::CallState& state);
  /// Sees to it that no thread runs that has the stopped one's memory, and no call returns. False if that takes too
  /// long, or was done just now.
  bool hold_others(Process& process, const ptrace::Tracee& tracee);
  bool set_up(Process& process, ptrace::Tracee& tracee, std::uint64_t instruction);
  void enroll(Process& process, ptrace::Tracee& tracee);
  void patch(Process& process, ptrace::Tracee& tracee);
  /// From now on the thread need not stop at each call, as those that are not recorded raise SIGSYS.
  void dispatch(ptrace::Tracee& tracee);
  /// The thread, which is out of our code, stops at each call.
  void end_dispatch(ptrace::Tracee& tracee);
  /// Whether the signal is no signal, but a call that has to stop; the thread is at its call instruction then.
  bool is_call(ptrace::Tracee& tracee);
  /// Puts the thread where it would be without us. True if there is a signal that is nothing to the program.
  bool take_out(ptrace::Tracee& tracee, bool faulted);
  [[nodiscard]] std::vector<pid_t> threads_of(const Process& process) const;
  /// Whether this thread of the process, which has been interrupted, will stop before it runs any code again.
  [[nodiscard]] bool is_outside(const Process& process, pid_t tid) const;
  /// False if the thread has stopped once more before all was done.
  bool clean(Process& process, const ptrace::Tracee& tracee);
  void end_call(ptrace::Tracee& tracee);
  void update_generation(Process& process) const;
  bool leave_recorder(ptrace::Tracee& tracee, const arch::Registers& registers, bool faulted);
  bool leave_body(ptrace::Tracee& tracee, arch::Registers registers, bool faulted);

  ImageContents contents_;
  StopsBy stops_by_;
  bool sees_memory_;
  ptrace::RecordedCalls& calls_;
  Say debug_;
  TickClock clock_;
  CallCounts counts_;
  std::chrono::nanoseconds due_{};
  std::chrono::microseconds pause_{20'000};                        ///< until the next collection
  std::vector<pid_t> changing_root_;                               ///< threads in calls that may do that
  std::unordered_map<pid_t, std::shared_ptr<Process>> processes_;  ///< by tgid
  std::unordered_map<pid_t, std::unique_ptr<Thread>> threads_;
  std::vector<ThreadRing*> rings_;
  std::unordered_map<pid_t, Contest> contested_;  ///< by child
  bool abandoned_ = false;
};

}  // namespace tracer::inprocess
