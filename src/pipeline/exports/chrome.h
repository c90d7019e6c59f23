// --format=chrome: the trace event format that chrome://tracing, Perfetto's UI and speedscope read.
#pragma once

#include <unordered_map>

#include "pipeline/exports/exporter.h"

namespace tracer::pipeline::exports {

/// An array of events. A call is a complete event (X); its arguments are those of the call, with `ret`, `errno` and
/// `stack`. Times are microseconds since the first event.
class Chrome final : public Exporter {
 public:
  explicit Chrome(Write write) : write_(std::move(write)) {}

  void begins(const trace::EventTime& first) override;
  void process_appears(const Process& process) override;
  void thread_appears(const Thread& thread) override;
  void forks(const Thread& thread, pid_t child, bool is_thread, Time time) override;
  void executes(const Thread& thread) override;
  void call(const Call& call) override;
  void signal(const Signal& signal) override;
  void process_goes(const Process& process) override;
  void lost(std::uint64_t events) override;
  void finish() override;

 private:
  /// The number that stands for a process: its pid, or another one if the pid came back.
  [[nodiscard]] std::int64_t number_of(const Process& process) const;
  void write_event(const Json& event);
  void write_names(const Thread& thread);
  [[nodiscard]] Json event(const char* phase, const Thread& thread, Time time) const;

  Write write_;
  Time start_{};
  bool first_ = true;
  std::unordered_map<pid_t, std::uint64_t> lives_;           ///< how often a pid has appeared
  std::unordered_map<std::uint64_t, std::int64_t> numbers_;  ///< of the living, by the id of the process
};

}  // namespace tracer::pipeline::exports
