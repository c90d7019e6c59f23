// The engine behind make_tracing_engine(). Private to this folder.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "bpf/capture_plans.h"
#include "bpf/kernel_engine.h"
#include "bpf/tracing.h"

struct ring_buffer;

namespace tracer {

class TracingEngine final : public KernelEngine {
 public:
  using KernelEngine::KernelEngine;
  ~TracingEngine() override;

  /// Puts the programs into the kernel.
  Status load(const spec::Tables& tables, const TracingOptions& tracing);

  Result<RunEnd> run(EventHandler& handler) override;

 private:
  struct FreeRing {
    void operator()(ring_buffer* ring) const;
  };
  using Bytes = std::span<const std::byte>;

  /// A record, and what stands for it until its turn comes.
  struct Held {
    std::vector<std::byte> bytes;
    std::chrono::nanoseconds since;
  };
  struct Signal {
    int number = 0;
    std::array<std::byte, siginfo_size> info{};
  };
  static constexpr std::size_t most_ignored = 8;
  struct ThreadState {
    bool in_call = false;
    std::uint64_t entered = 0;
    Abi abi{};
    std::vector<std::byte> entry;  ///< what the entry has captured: the exit looks at some of it again
    std::vector<Signal> ignored;   ///< that the kernel dropped, and a tracer that stops would have seen
  };

  Status fill_plans(const CapturePlans& plans);
  bool take_reports();
  bool consume();
  void on_record(Bytes record);
  /// Hands out what need not wait any longer.
  void release_held(bool all);
  void deliver(Bytes record, Bytes late);
  void on_enter(const trace_record& head, Event& event, Bytes chunks, Bytes late);
  void on_exit(const trace_record& head, Event& event, Bytes chunks);
  void on_end(const trace_record& head, Event& event);
  void on_exec(const trace_record& head, Event& event);
  void on_signal(const trace_record& head, Event& event, const Signal& signal);
  void on_signal_generated(const trace_record& head, Event& event, const Signal& signal);
  void signal_stop(Event& event, const Signal& signal);

  tracing_shared* shared_ = nullptr;
  std::unique_ptr<ring_buffer, FreeRing> ring_;
  std::unordered_map<std::uint32_t, ThreadState> threads_;
  std::map<std::pair<std::uint32_t, int>, Signal> on_their_way_;  ///< by process and number
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  unsigned idle_rounds_ = 0;
  unsigned taken_ = 0;
  std::uint64_t lost_ = 0;
  std::chrono::nanoseconds realtime_offset_{};  ///< of CLOCK_REALTIME to CLOCK_MONOTONIC
};

}  // namespace tracer
