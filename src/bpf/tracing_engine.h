// The engine behind make_tracing_engine(). Private to this directory.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bpf/backlog.h"
#include "bpf/captured_memory.h"
#include "bpf/kernel_engine.h"
#include "bpf/record_stream.h"
#include "bpf/tracing.h"
#include "capture/plans.h"
#include "trace/stack.h"
#include "trace/task_snapshot.h"

namespace tracer::bpf {

class TracingEngine final : public KernelEngine {
 public:
  using KernelEngine::KernelEngine;
  ~TracingEngine() override;

  /// Puts the programs into the kernel.
  Status load(const spec::Tables& tables, const TracingOptions& tracing);

 private:
  using Bytes = std::span<const std::byte>;

  /// A record, and what stands for it until its turn comes.
  struct Held {
    std::vector<std::byte> bytes;
    std::chrono::nanoseconds since;
  };
  struct Signal {
    int number = 0;
    std::int64_t value = 0;  ///< signal_record::value
    std::array<std::byte, siginfo_size> info{};
    std::vector<std::byte> names;  ///< chunks: who sent it
  };
  static constexpr std::size_t most_ignored = 8;
  struct ThreadState {
    bool in_call = false;
    std::uint64_t entered = 0;
    std::uint64_t first_argument = 0;
    Abi abi{};
    std::vector<std::byte> entry;  ///< what the entry has captured: the exit looks at some of it again
    std::vector<Signal> ignored;   ///< that the kernel dropped, and a tracer that stops would have seen
  };

  void configure(tracing_settings& settings, const TracingOptions& tracing);
  /// Programs that nothing of what is asked for takes; before they are loaded.
  void leave_out_unneeded(const TracingOptions& tracing);
  /// Has the programs follow the chosen threads, and finds out how far their clock is from ours.
  Status watch();
  /// Divides `size` bytes between the ring buffer and the blocks of the CPUs; before the programs are loaded.
  void make_room(std::uint32_t size);
  /// Maps what the programs will write to.
  Status open_records();
  Status fill_plans(const capture::CapturePlans& plans);
  [[nodiscard]] int reports() const override;
  [[nodiscard]] int nap_milliseconds() const override;
  void conclude() override;
  [[nodiscard]] const trace::Memory& no_memory() const override { return nothing_; }
  Next take_reports() override;
  void take_rest(const std::function<bool()>& go_on) override;
  bool take_some();
  void on_record(Bytes record);
  /// Hands out what need not wait any longer.
  void release_held(bool all);
  void deliver(Bytes record, Bytes late);
  ThreadState& thread(pid_t tid);
  void forget(pid_t tid);
  void on_enter(trace::Event& event, Bytes record, Bytes late);
  void on_exit(trace::Event& event, Bytes record);
  /// Forgets a thread whose exit nobody will report.
  void end_call(trace::Event& event);
  void on_thread_exit(trace::Event& event, std::int64_t status);
  void on_exec(trace::Event& event, pid_t former);
  void on_signal(trace::Event& event, const Signal& signal);
  void on_signal_generated(trace::Event& event, const Signal& signal);
  /// A signal that has killed its thread; `record`: what that looked like then.
  void on_crash(trace::Event& event, const Signal& signal, Bytes record);
  void signal_stop(trace::Event& event, const Signal& signal, std::uint64_t instruction_pointer = 0, Bytes memory = {},
                   const trace::TaskState* state = nullptr);

  tracing_shared* shared_ = nullptr;
  bool stacks_ = false;
  bool task_states_ = false;
  std::optional<RecordStream> records_;
  Backlog backlog_{0};
  std::unordered_map<pid_t, ThreadState> threads_;
  ThreadState* last_ = nullptr;  ///< of those, asked for last
  pid_t last_tid_ = 0;
  std::map<std::pair<pid_t, int>, Signal> on_their_way_;  ///< by process and number
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  KnownCommands commands_;
  trace::Event event_;                                ///< that is being handed out
  const CapturedMemory nothing_{{}, {}, &commands_};  ///< of an event that has captured none
  unsigned idle_rounds_ = 0;
  std::uint64_t lost_ = 0;
  std::chrono::nanoseconds realtime_offset_{};  ///< of CLOCK_REALTIME to CLOCK_MONOTONIC
};

}  // namespace tracer::bpf
