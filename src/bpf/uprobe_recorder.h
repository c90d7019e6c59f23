// Recording of function calls by uprobes. Private to this directory.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "bpf/engine.h"
#include "bpf/entry_chunks.h"
#include "bpf/function_records.h"
#include "bpf/kernel_programs.h"
#include "bpf/record_ring.h"
#include "trace/function_recorder.h"

namespace tracer::bpf {

class UprobeRecorder final : public trace::FunctionRecorder {
 public:
  UprobeRecorder(KernelPrograms programs, RecordingOptions options);

  /// Puts the programs into the kernel.
  Status load();

  [[nodiscard]] bool records_calls() const override { return records_calls_; }
  void watch(pid_t process, Abi abi, const std::string& file, std::span<Place> places) override;
  void take(const std::function<void(const Hit&)>& handle) override;
  void forget(pid_t process, std::uint64_t start, std::uint64_t end) override;
  void leave_returns(pid_t process) override;
  [[nodiscard]] std::uint64_t lost() const override;

 private:
  struct Process {
    std::map<std::uint64_t, std::uint32_t> places;  ///< by address
    std::map<std::uint64_t, UniqueFd> links;        ///< by an address of theirs; all of one file
  };

  /// Says in the kernel what is to be recorded there. False: there is no room, or it cannot be known.
  bool take(pid_t id, Process& process, Abi abi, const Place& place);
  void attach(pid_t id, Process& process, const std::string& file, std::span<const Place> places, bool calls);
  void release(std::uint32_t place);
  /// Where these operations stand among all, once for all places that have the same; empty: there is no room.
  std::optional<std::uint16_t> operations_at(const std::vector<capture_operation>& operations);
  bool plan(recorded_place& kernel, const Place& place, const capture::FunctionPlan& plan);
  static capture::FunctionPlan plan_of_probe(const Place& place, std::uint32_t string_limit);
  void deliver(std::span<const std::byte> record, const std::function<void(const Hit&)>& handle);

  KernelPrograms programs_;
  RecordingOptions options_;
  bool records_calls_;
  thread_shared* shared_ = nullptr;
  std::span<recorded_place> places_;
  std::optional<RecordRing> ring_;
  std::map<pid_t, Process> processes_;
  std::vector<std::uint64_t> addresses_;  ///< of places, by their numbers
  std::vector<std::uint32_t> free_places_;
  std::vector<std::uint32_t> retired_places_;  ///< free once there can be no records of them
  std::vector<capture_operation> operations_;
  std::map<std::string, std::uint16_t> known_operations_;
  EntryChunks entries_;
  std::chrono::nanoseconds realtime_offset_{};
  std::chrono::nanoseconds clock_offset_{};  ///< kernel_clock_offset()
};

}  // namespace tracer::bpf
