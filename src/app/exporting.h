// Builds the exports of --format.
#pragma once

#include "cli/options.h"
#include "pipeline/views/export.h"
#include "spec/spec.h"

namespace tracer::app {

/// Adds to the options what the export of --format needs: the calls to watch, the depth of their arguments.
cli::Options with_export(cli::Options options, const spec::Tables& tables);

/// Returns whether the export shows what --explain says, which needs all calls.
[[nodiscard]] bool wants_verdict(const cli::Options& options);

/// Returns what makes the export of the options' format; empty if the format is none of a whole run. The output is open
/// already. `verdict` returns, when the run is over, what --explain says of it as JSON; empty: nothing.
Result<pipeline::views::ExportView::Make> export_maker(const cli::Options& options,
                                                       const pipeline::sink::Complain& complain,
                                                       std::function<std::string()> verdict);

}  // namespace tracer::app
