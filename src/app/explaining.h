// Builds the parts of --explain.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "cli/options.h"
#include "decode/decoder.h"
#include "explain/explanation.h"
#include "explain/report.h"
#include "explain/story.h"
#include "names/proc_names.h"
#include "pipeline/views/explain.h"
#include "pipeline/views/tee.h"
#include "trace/engine.h"
#include "trace/stack.h"

namespace tracer::app {

/// How many bytes of each string --explain reads, including what is written to standard error.
constexpr std::uint32_t explained_text = 4096;

/// Adds to the options what --explain needs: the calls to watch and the notes to suppress.
cli::Options with_explaining(cli::Options options, const spec::Tables& tables);

/// Unwinds the stack only at signals that kill, so that it costs nothing before.
class DeathStacks final : public trace::StackTracer {
 public:
  explicit DeathStacks(const spec::Tables& tables) : tables_(tables) {}
  void observe(const trace::Event&, const trace::Memory&) override {}
  std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override;

 private:
  static constexpr unsigned most_walks = 256;  // some programs handle SIGSEGV as a matter of course

  const spec::Tables& tables_;
  std::unique_ptr<trace::StackTracer> walker_;  ///< created for each walk, as it does not observe the events in between
  unsigned walks_ = 0;
};

/// Watches a run and explains it at the end.
class Explaining {
 public:
  /// `trace`: where a full trace goes as well, or nullptr. It outlives this, as do the others.
  struct Run {
    Abi native = Abi::x86_64;
    bool live = true;               ///< false: it was recorded
    bool alters_privileges = true;  ///< see explain::Story
  };
  Explaining(const cli::Options& options, const spec::Tables& tables, const Run& run, pipeline::View* trace);

  [[nodiscard]] pipeline::View& view() { return both_ ? static_cast<pipeline::View&>(*both_) : view_; }
  /// Returns when on_alarm() is to be called, by CLOCK_MONOTONIC: after the time of --explain-after, and from time to
  /// time once the first process has exited and others run on.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> alarm_at() const;
  /// Reports on a program that still runs. Ends the tracing of one that was attached to, and of one whose first process
  /// has exited and whose others run in the background, in sessions of their own.
  trace::Verdict on_alarm();
  /// Returns it as JSON (docs/json.md).
  [[nodiscard]] std::string verdict() const { return explain::report_json(explain::explain(story_)); }
  /// Writes it at the end of the run, unless it was already written and the process has not ended since.
  void report_end();
  /// Explains why the program was not found.
  void explain_missing_program(const std::string& name);

 private:
  void report(const explain::Explanation& explanation);

  const cli::Options& options_;
  explain::ProcSystemView system_;
  explain::Story story_;
  names::ProcNames names_;  ///< a live run is asked for them by `system_`
  decode::Decoder decoder_;
  pipeline::views::ExplainView view_;
  std::optional<pipeline::views::TeeView> both_;       ///< if a trace is written as well
  std::optional<std::chrono::nanoseconds> report_at_;  ///< --explain-after
  std::optional<std::chrono::nanoseconds>
      report_until_;  ///< when that report waits no longer for all threads to run or wait
  std::optional<std::chrono::nanoseconds> look_at_;  ///< the next look for programs in the background
  bool is_noted_ = false;                            ///< that others than the first process run on
  bool reported_ = false;
};

/// Explains a recorded trace (--explain=FILE). Returns the exit status.
int explain_recorded(const cli::Options& options);

}  // namespace tracer::app
