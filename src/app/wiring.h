// From what the command line asked for to what the parts want to know. Translation only, no decisions of its own but
// those that need two parts at once.
#pragma once

#include "cli/options.h"
#include "functions/function_tracer.h"
#include "names/descriptor_names.h"
#include "pipeline/channels.h"
#include "pipeline/pipeline.h"
#include "pipeline/views/folded.h"
#include "pipeline/views/ltrace.h"
#include "pipeline/views/text.h"
#include "process/engine_options.h"
#include "render/summary.h"
#include "sink/sink.h"
#include "stack/stack_tracer.h"

namespace tracer::app {

decode::Options decoder_options(const cli::Options& options);
names::NameOptions name_options(const cli::Options& options);
pipeline::PipelineOptions pipeline_options(const cli::Options& options, const spec::Tables& tables);
/// What is wrong with STRACE_COLORS is told to `note`.
pipeline::views::TextViewOptions text_view_options(const cli::Options& options, const pipeline::Note& note);
/// Of options that came by the name `ltrace`.
pipeline::views::LtraceViewOptions ltrace_view_options(const cli::Options& options);
pipeline::views::FoldedWeight folded_weight(const cli::Options& options);
render::SummaryOptions summary_options(const cli::Options& options);

/// The paths of -P and, where they differ, what they resolve to. Each such finding is told to `note`.
filter::PathSet traced_paths(const cli::Options& options, const pipeline::Note& note);

/// --secontext; none where SELinux is off.
Result<names::SecurityContexts> security_contexts(const cli::Options& options);

/// Null where no stacks are shown.
Result<std::unique_ptr<trace::StackTracer>> make_stack_tracer(const cli::Options& options, const spec::Tables& tables);

/// The sinks that the output goes to.
Result<pipeline::Channels> open_channels(const cli::Options& options, const sink::Complain& complain);

/// Looks for the user of -u. The command's path is left to command_path.
Result<process::EngineOptions> engine_options(const cli::Options& options, const spec::Tables& tables);

/// The functions to trace; the selection is empty if there are none.
Result<functions::Options> function_options(const cli::Options& options);

/// Where the command is. The output is opened before, as strace does: no file of an earlier run is left to be taken for
/// that of this one. Strict messages say no more than strace's.
Result<std::string> command_path(const cli::Options& options);

}  // namespace tracer::app
