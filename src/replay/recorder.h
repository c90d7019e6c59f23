// Records a run: stands between the engine and the pipeline, and writes each event with what decoding it needs.
#pragma once

#include <signal.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "filter/syscall_set.h"
#include "pipeline/pipeline.h"
#include "replay/block_writer.h"
#include "replay/capture.h"
#include "replay/event_writer.h"
#include "replay/head.h"
#include "replay/kept_stacks.h"
#include "trace/engine.h"
#include "trace/prototype_source.h"

namespace tracer::replay {

/// How much of a string is captured, unless more is asked for.
inline constexpr std::uint32_t default_string_limit = 256;

struct RecorderOptions {
  Head head;
  /// The calls to record. The engine may report more.
  filter::SyscallSet calls = filter::SyscallSet::all();
  KeptNames::FunctionNamer functions;            ///< names functions that pointers lead to; may be empty
  KeptStacks* stacks = nullptr;                  ///< null: no stacks are recorded
  trace::PrototypeSource* prototypes = nullptr;  ///< for functions without a description
  std::vector<filter::Trigger> triggers;         ///< of a flight recorder
};

class Recorder final : public trace::EventHandler {
 public:
  /// `live` gets all events as well. `file` is where the blocks go. What is passed by reference outlives this, as does
  /// what `options` points to.
  Recorder(RecorderOptions options, const spec::Tables& tables, std::unique_ptr<BlockWriter> file,
           trace::EventHandler& live);
  /// Ends the file.
  ~Recorder() override;

  const trace::Tampering* tamper(const trace::Event& enter, const trace::Memory& memory) override {
    return live_.tamper(enter, memory);
  }
  trace::Verdict handle(const trace::Event& event, const trace::Memory& memory) override;
  void totals(std::span<const trace::CallTotals> calls) override { live_.totals(calls); }
  void lost(std::uint64_t events) override;
  void idle() override { live_.idle(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> alarm_at() const override;
  trace::Verdict on_alarm() override;

 private:
  trace::Verdict pass(const trace::Event& event, const trace::Memory& memory);
  /// Whether the event belongs into the file: all that are no calls do.
  [[nodiscard]] bool is_wanted(const trace::Event& event);
  void end_block();
  /// From the first event on: whoever was forked before keeps the signal.
  void block_signal();

  Facts facts_;
  KeptStacks* stacks_;
  KeptNames names_;
  decode::Decoder decoder_;
  CaptureView view_;
  pipeline::Pipeline capture_;
  trace::EventHandler& live_;
  EventWriter writer_;
  std::unique_ptr<BlockWriter> file_;
  std::string block_;
  std::uint32_t sequence_ = 1;  ///< of the block that is being written
  std::uint64_t lost_ = 0;
  std::optional<sigset_t> former_mask_;   ///< while SIGUSR1 is blocked
  std::chrono::nanoseconds block_due_{};  ///< CLOCK_MONOTONIC; when the block has to end, if there is anything in it
};

}  // namespace tracer::replay
