// The engine that traces nobody: it reads what was recorded.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "names/names.h"
#include "replay/event_reader.h"
#include "replay/trace_file.h"
#include "spec/spec.h"
#include "trace/engine.h"
#include "trace/stack.h"

namespace tracer::replay {

struct ReplayOptions {
  // CLOCK_REALTIME of the first and the last event to show; empty: no limit.
  std::optional<std::chrono::nanoseconds> from;
  std::optional<std::chrono::nanoseconds> to;
  bool sources = true;  ///< stacks show inlined functions and lines, if they were recorded
  std::size_t frame_limit = 256;
  bool facts = true;  ///< false: what the events alone say, and which call others make, is all that is shown
  /// Gets how many bytes were read, often, and returns the signal that ends the replay; 0: none. Empty: nothing
  /// does.
  std::function<int(std::uint64_t)> look;
  std::function<bool(const trace::Event&)> wants;  ///< which events are shown; empty: all
  std::function<void()> at_end;                    ///< may be empty
  int signals = -1;                                ///< readable when `look` would return one
};

class ReplayEngine final : public trace::Engine, private trace::TaskSnapshot, private trace::Memory {
 public:
  using Complain = std::function<void(std::string_view)>;

  /// `tables` outlive this. `complain` hears what the file lacks.
  ReplayEngine(std::unique_ptr<TraceFile> file, ReplayOptions options, const spec::Tables& tables, Complain complain);

  Result<trace::RunEnd> run(trace::EventHandler& handler) override;

  /// Whether an event is to be handled.
  using Wants = std::function<bool(const trace::Event&)>;
  /// Replays one block, or of it what `wants` wants. Returns whether the block is whole.
  bool play(const BlockPlace& place, trace::EventHandler& handler, const Wants& wants);
  [[nodiscard]] TraceFile& file() { return *file_; }

  /// The stacks of the event that is being handled.
  [[nodiscard]] trace::StackTracer& stacks() { return stacks_; }
  /// What the kernel knew then.
  [[nodiscard]] names::KernelFacts& kernel_facts() { return kernel_facts_; }

 private:
  class Stacks final : public trace::StackTracer {
   public:
    explicit Stacks(const ReplayEngine& engine) : engine_(engine) {}
    void observe(const trace::Event& /*event*/, const trace::Memory& /*memory*/) override {}
    std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override;

   private:
    const ReplayEngine& engine_;
    std::vector<trace::StackFrame> frames_;
  };
  class ReplayedFacts final : public names::KernelFacts {
   public:
    explicit ReplayedFacts(const EventReader& reader) : reader_(reader) {}
    std::string_view function(const names::Task& task, RemoteAddr address) override;
    std::string_view interface(std::uint32_t index) override;
    std::string_view generic_family(std::uint16_t number) override;

   private:
    [[nodiscard]] std::string_view find(NameFact::Kind kind, std::uint64_t number) const;
    const EventReader& reader_;
  };

  // trace::Memory
  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override;
  [[nodiscard]] const trace::TaskSnapshot* snapshot() const override { return this; }
  // trace::TaskSnapshot
  [[nodiscard]] std::optional<trace::OpenFile> descriptor(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> descriptor_behind(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::FileKind> file_kind(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> descriptor_of(std::int32_t pid, std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> working_directory() const override;
  [[nodiscard]] std::int32_t netlink_protocol(std::int32_t fd) const override;
  [[nodiscard]] std::optional<Process> process(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::string> command(std::int32_t tid) const override;
  [[nodiscard]] const trace::TaskState& state() const override { return state_; }

  [[nodiscard]] const Facts& facts() const { return reader_.facts(); }
  [[nodiscard]] bool is_chosen(const trace::Event& event) const;
  /// Plays a block; false if the handler has had enough.
  bool play_block(trace::EventHandler& handler, const Wants& wants);
  bool play_event(trace::EventHandler& handler, const Wants& wants);
  /// Returns whether a signal ends the replay.
  bool is_interrupted();
  /// The number that our tables have for a call that the recording program may have known by another one.
  [[nodiscard]] std::uint64_t number_here(Abi abi, std::uint64_t number);

  std::unique_ptr<TraceFile> file_;
  ReplayOptions options_;
  const spec::Tables& tables_;
  Complain complain_;
  EventReader reader_;
  std::unordered_map<pid_t, std::string> commands_;  ///< of living threads
  CallTable<std::uint64_t> numbers_;
  bool damaged_ = false;
  int interrupting_signal_ = 0;
  std::uint64_t played_ = 0;  ///< events
  trace::TaskState state_;    ///< always empty: it is not recorded
  Stacks stacks_{*this};
  ReplayedFacts kernel_facts_{reader_};
};

}  // namespace tracer::replay
