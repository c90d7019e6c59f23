// --explain: the parts of it, wired.
#pragma once

#include <memory>
#include <optional>

#include "cli/options.h"
#include "decode/decoder.h"
#include "explain/story.h"
#include "names/descriptor_names.h"
#include "pipeline/snapshot_lookup.h"
#include "pipeline/views/explain.h"
#include "pipeline/views/tee.h"
#include "trace/stack.h"

namespace tracer::app {

/// Bytes that --explain wants to see of each text: of what is written to standard error, and of everything else.
constexpr std::uint32_t explained_text = 1024;

/// What the command line asks for, with what --explain needs of it: the calls to watch, the notes to keep back.
cli::Options with_explaining(cli::Options options, const spec::Tables& tables);

/// Walks the stack where a signal kills, and nowhere else: so it costs nothing before.
class DeathStacks final : public trace::StackTracer {
 public:
  explicit DeathStacks(const spec::Tables& tables) : tables_(tables) {}
  void observe(const trace::Event&, const trace::Memory&) override {}
  std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override;

 private:
  static constexpr unsigned most_walks = 256;  // there are programs that live on SIGSEGV

  const spec::Tables& tables_;
  std::unique_ptr<trace::StackTracer> walker_;  ///< made anew for each walk, as it has not seen what changed
  unsigned walks_ = 0;
};

/// Watches a live run, and tells at the end.
class Explaining {
 public:
  /// `trace`: where a full trace goes as well, or nullptr. It outlives this, as do the others.
  /// `alters_privileges`: see explain::Story.
  Explaining(const cli::Options& options, const spec::Tables& tables, Abi native, pipeline::View* trace,
             bool alters_privileges);

  [[nodiscard]] pipeline::View& view() { return both_ ? static_cast<pipeline::View&>(*both_) : view_; }
  /// Writes the explanation to standard error.
  void report(bool still_running);
  /// The same when tracing is over. Says nothing where a process that was let go has been reported on already.
  void report_end();
  /// The program could not even be looked for.
  void tell_missing_program(const std::string& name);

 private:
  const cli::Options& options_;
  explain::ProcSurroundings surroundings_;
  pipeline::PastSurroundings past_;
  explain::Story story_;
  names::DescriptorNames no_names_;
  decode::Decoder decoder_;
  pipeline::views::ExplainView view_;
  std::optional<pipeline::views::TeeView> both_;  ///< where a trace is written as well
  bool reported_ = false;
};

/// --explain=FILE. The exit status.
int explain_recorded(const cli::Options& options);

}  // namespace tracer::app
