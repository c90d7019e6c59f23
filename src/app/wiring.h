// Translates the command line into the options of the parts. It decides only what needs the options of two parts.
#pragma once

#include "base/patience.h"
#include "cli/options.h"
#include "functions/function_tracer.h"
#include "names/name_options.h"
#include "names/security_contexts.h"
#include "pipeline/channels.h"
#include "pipeline/pipeline.h"
#include "pipeline/sink/sink.h"
#include "pipeline/views/folded.h"
#include "pipeline/views/ltrace.h"
#include "pipeline/views/text.h"
#include "process/engine_options.h"
#include "render/summary.h"
#include "stack/stack_tracer.h"

namespace tracer::app {

decode::Options decoder_options(const cli::Options& options);
names::NameOptions name_options(const cli::Options& options);
pipeline::PipelineOptions pipeline_options(const cli::Options& options, const spec::Tables& tables);
/// Errors in STRACE_COLORS are reported to `note`.
pipeline::views::TextViewOptions text_view_options(const cli::Options& options, const pipeline::Note& note);
/// Returns whether the text is folded (--fold).
bool wants_fold(const cli::Options& options);
/// The options must come from ltrace's command line.
pipeline::views::LtraceViewOptions ltrace_view_options(const cli::Options& options);
render::SummaryOptions summary_options(const cli::Options& options);

/// Returns the paths of -P and, if they differ, the resolved ones. Each of the latter is reported to `note`.
filter::PathSet traced_paths(const cli::Options& options, const pipeline::Note& note);

/// Says what of the options is left out where /proc is not mounted.
void report_missing_proc(const cli::Options& options, const pipeline::Note& note);

/// Returns the source of --secontext; it is empty if SELinux is disabled.
Result<names::SecurityContexts> security_contexts(const cli::Options& options);

/// Returns null if no stacks are shown.
Result<std::unique_ptr<trace::StackTracer>> make_stack_tracer(const cli::Options& options, const spec::Tables& tables,
                                                              const pipeline::sink::Complain& complain);

/// Returns what says whether the tracer is to end, for those who wait for files; empty where they may wait for good.
/// `leaves`: whether the engine begins to leave tracees that live on (EngineOptions::on_leaving).
IsToEnd watch_for_end(const cli::Options& options, const std::shared_ptr<const bool>& leaves);

/// Opens the sinks of the output. `is_to_end`: as of watch_for_end().
Result<pipeline::Channels> open_channels(const cli::Options& options, const IsToEnd& is_to_end,
                                         const pipeline::sink::Complain& complain);

/// Looks up the user of -u. The path of the command is left to command_path().
Result<process::EngineOptions> engine_options(const cli::Options& options, const spec::Tables& tables);

/// Returns the functions to trace; the selection is empty if there are none.
Result<functions::Options> function_options(const cli::Options& options);

/// Looks up the command in PATH. The output is opened before, as strace does, so that no file of an earlier run is
/// taken for that of this one. Strict messages are those of strace.
Result<std::string> command_path(const cli::Options& options);

}  // namespace tracer::app
