#include "app/view_choice.h"

#include <utility>

#include "app/terminal.h"
#include "app/viewing.h"
#include "app/wiring.h"
#include "pipeline/views/folded.h"
#include "pipeline/views/folding_text.h"
#include "pipeline/views/json.h"
#include "pipeline/views/ltrace.h"
#include "pipeline/views/packets.h"

namespace tracer::app {

std::unique_ptr<pipeline::View> make_view(const cli::Options& options, ViewParts parts) {
  if (options.extras.explain && options.output.to == cli::Output::To::standard_error) {
    return nullptr;
  }
  if (options.extras.view) {
    return std::make_unique<SilentView>();
  }
  if (parts.make_export) {
    return std::make_unique<pipeline::views::ExportView>(parts.tables, parts.decoder, parts.plain_names.processes,
                                                         std::move(parts.channels), std::move(parts.make_export),
                                                         parts.settings.native);
  }
  switch (options.format.output) {
    case cli::OutputFormat::pcapng:
      return std::make_unique<pipeline::views::PacketsView>(parts.decoder, parts.plain_names.processes,
                                                            std::move(parts.channels));
    case cli::OutputFormat::json:
      return std::make_unique<pipeline::views::JsonView>(
          parts.tables, parts.decoder, parts.plain_names.processes, std::move(parts.channels),
          pipeline::views::JsonViewOptions{parts.settings.native, parts.settings.flush_each_event});
    case cli::OutputFormat::folded:
      return std::make_unique<pipeline::views::FoldedView>(parts.tables, parts.decoder, parts.plain_names.processes,
                                                           std::move(parts.channels), options.format.folded_weight);
    default:
      break;
  }
  if (options.ltrace) {
    return std::make_unique<pipeline::views::LtraceView>(std::move(parts.settings), ltrace_view_options(options),
                                                         parts.tables, parts.decoder, parts.names,
                                                         std::move(parts.channels));
  }
  if (wants_fold(options)) {
    return std::make_unique<pipeline::views::FoldingTextView>(std::move(parts.settings), has_utf8_locale(),
                                                              parts.tables, parts.decoder, parts.names,
                                                              std::move(parts.channels));
  }
  return std::make_unique<pipeline::views::TextView>(std::move(parts.settings), parts.tables, parts.decoder,
                                                     parts.names, std::move(parts.channels));
}

}  // namespace tracer::app
