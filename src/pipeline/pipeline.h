// Turns events into calls to a view: finds the thread, applies the filters, and has the view decode the call once.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "decode/decoder.h"
#include "filter/choice_set.h"
#include "filter/quiet.h"
#include "filter/syscall_set.h"
#include "pipeline/filter.h"
#include "pipeline/notes.h"
#include "pipeline/prototypes.h"
#include "pipeline/tampering.h"
#include "pipeline/thread.h"
#include "pipeline/view.h"
#include "render/summary.h"
#include "trace/engine.h"
#include "trace/prototype_source.h"
#include "trace/stack.h"

namespace tracer::pipeline {

struct PipelineOptions {
  FilterOptions filter;
  filter::SyscallSet abbreviate = filter::SyscallSet::all();
  filter::SyscallSet dereference = filter::SyscallSet::all();
  filter::SyscallSet raw;
  filter::ChoiceSet<filter::Quiet> quiet;
  Abi native = Abi::x86_64;          ///< the ABI before the first call of a program
  bool bare_function_names = false;  ///< functions are counted without their library
  /// -c: counts system calls that do not return, even if none are traced, and fork's return in the child.
  bool counts_as_ltrace = false;
  bool summary_only = false;      ///< -c: calls are only counted
  bool detach_on_execve = false;  ///< -b execve
  bool hide_launch = false;       ///< the execve that starts the program is neither shown nor counted
  bool launched = false;          ///< the first execve is the launch of the program itself
  std::vector<TamperRule> tampering;
  trace::StackTracer* stacks = nullptr;  ///< -k; outlives the pipeline
  /// Returns when to call `on_alarm`, by CLOCK_MONOTONIC; nullopt: never, as of now.
  std::function<std::optional<std::chrono::nanoseconds>()> alarm_at;
  std::function<trace::Verdict()> on_alarm;
  std::uint64_t syscall_limit = 0;               ///< detach after so many calls have been shown or counted; 0: never
  trace::PrototypeSource* prototypes = nullptr;  ///< for functions without a description; outlives the pipeline
};

class Pipeline final : public trace::EventHandler {
 public:
  /// `summary` may be null. All arguments outlive the pipeline.
  Pipeline(PipelineOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
           names::DescriptorNames& names, View& view, render::Summary* summary, Note note);

  const trace::Tampering* tamper(const trace::Event& event, const trace::Memory& memory) override;
  trace::Verdict handle(const trace::Event& event, const trace::Memory& memory) override;
  void lost(std::uint64_t events) override;
  void totals(std::span<const trace::CallTotals> calls) override;
  void idle() override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> alarm_at() const override {
    return options_.alarm_at ? options_.alarm_at() : std::nullopt;
  }
  trace::Verdict on_alarm() override;

 private:
  Thread& thread_of(const trace::Event& event, const trace::Memory& memory);
  void forget(Thread& thread);
  /// Ends a call without a result: the thread has ended, another one's execve has replaced it, or its exit is lost.
  /// Adds the time of a function that does not return to its row in the table.
  void count_unreturned(const Thread& thread, const Moment& moment);
  void end_call(Thread& thread, const Moment& moment);
  void end_exit_of(pid_t tgid, pid_t tid, const Moment& moment);
  [[nodiscard]] bool never_returns(const Thread& thread) const;
  [[nodiscard]] bool records() const { return !options_.summary_only; }
  /// `number` is the result of Filter::number_of().
  [[nodiscard]] bool wants(std::uint64_t number, const decode::Entry& entry, const trace::Memory& memory) const;

  trace::Verdict on(const trace::SyscallEnter& enter, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::SyscallExit& exit, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::SyscallLost& lost, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::SignalStop& stop, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::GroupStop& stop, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::Exec& exec, Thread& thread, const trace::Event& event, const trace::Memory& memory);
  trace::Verdict on(const trace::Fork& fork, Thread& thread, const trace::Event& event, const trace::Memory& memory);
  trace::Verdict on(const trace::Attached& attached, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::Detached& detached, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::LibraryEnter& enter, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::LibraryExit& exit, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::LibraryCalls& calls, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);
  trace::Verdict on(const trace::ProbeHit& hit, Thread& thread, const trace::Event& event, const trace::Memory& memory);
  trace::Verdict on(const trace::Exited& exited, Thread& thread, const trace::Event& event,
                    const trace::Memory& memory);

  /// Reports a change of the ABI.
  void note_abi(Thread& thread, Abi abi, const Moment& moment);
  /// `event`: that of the exit; null if there is none.
  trace::Verdict finish(Thread& thread, CallEnd& end, const trace::Event* event, const trace::Memory& memory);
  /// Stores the stack of a call whose stack is lost when it ends.
  void keep_stack(Thread& thread, const trace::Event& event, const trace::Memory& memory);
  [[nodiscard]] std::span<const trace::StackFrame> stack_now(const trace::Event& event,
                                                             const trace::Memory& memory) const;
  /// Pushes the open call of the thread, before a call inside it.
  void nest(Thread& thread);

  PipelineOptions options_;
  Prototypes prototypes_;
  Filter filter_;
  TamperRules tamper_rules_;
  const decode::Decoder& decoder_;
  View& view_;
  render::Summary* summary_;
  Notes notes_;
  ThreadTable threads_;
  std::unordered_map<pid_t, pid_t> exiting_;  ///< by process: the thread that has called exit_group last
  bool launch_seen_ = false;
  bool depth_reported_ = false;
  struct {
    std::uint64_t lost = 0;       ///< events
    std::uint64_t completed = 0;  ///< calls that have returned and were shown or counted
  } counts_;
  std::chrono::nanoseconds last_flush_{};
};

}  // namespace tracer::pipeline
