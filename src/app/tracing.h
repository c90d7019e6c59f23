// Builds the parts of a run as the command line asks, and lets the engine drive the pipeline.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/engine_choice.h"
#include "app/explaining.h"
#include "app/speaker.h"
#include "cli/options.h"
#include "functions/library/debug_prototypes.h"
#include "names/security_contexts.h"
#include "pipeline/channels.h"
#include "pipeline/pipeline.h"
#include "pipeline/views/export.h"
#include "replay/recorder.h"
#include "replay/replay_engine.h"
#include "replay/trace_file.h"
#include "spec/growing_tables.h"
#include "sysc/source.h"
#include "trace/engine.h"
#include "trace/stack.h"

namespace tracer::app {

/// How a run ended.
struct Ended {
  std::unique_ptr<trace::Engine> engine;  ///< its finish() is called last; null: nothing was traced
  int wait_status = 0;
};

class Tracing {
 public:
  /// `more`: the prototypes that `tables` may gain at run time. `definitions`: the descriptions beside the built-in
  /// ones, for recordings. All outlive this.
  Tracing(const cli::Options& options, const spec::Tables& tables, spec::GrowingTables& more,
          const std::vector<sysc::Source>& definitions, const Speaker& speak);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  /// `recorded`: what --replay shows; null: a live run. `ahead`: lines for the output before the trace. This outlives
  /// the engine that it returns.
  Ended run(std::unique_ptr<replay::TraceFile> recorded, const std::string& ahead);

 private:
  /// What may fail to be made, and is made before anything is decoded.
  struct Parts {
    pipeline::Channels channels;
    pipeline::views::ExportView::Make make_export;
    ChosenEngine source;
    replay::ReplayEngine* replayed = nullptr;        ///< the source, if it is a recording
    std::unique_ptr<replay::BlockWriter> recording;  ///< null: nothing is recorded
    names::SecurityContexts contexts;
    std::unique_ptr<trace::StackTracer> stack_tracer;  ///< null: no stacks are shown
  };

  [[nodiscard]] Ended failed(const Error& error) const;
  /// Sets the path of the program that the engine starts. If there is none, reports it and returns what to exit with.
  std::optional<Ended> find_program(process::EngineOptions& engine) const;
  std::variant<Parts, Ended> prepare(std::unique_ptr<replay::TraceFile> recorded);
  Ended drive(Parts parts, const std::string& ahead);
  [[nodiscard]] std::optional<render::Summary> make_summary(bool in_kernel) const;
  /// Has the pipeline report after the time of --explain-after, and end when only programs in the background run on.
  void set_alarm(pipeline::PipelineOptions& settings) const;
  [[nodiscard]] Ended end_of(const Result<trace::RunEnd>& run) const;

  const cli::Options& options_;
  const spec::Tables& tables_;
  const std::vector<sysc::Source>& definitions_;
  const Speaker& speak_;
  functions::library::DebugPrototypes prototypes_;
  Abi native_;
  bool output_failed_ = false;
  std::unique_ptr<Explaining> explaining_;  ///< null: nothing is explained
};

}  // namespace tracer::app
