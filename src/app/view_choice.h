// Chooses the view: what --format and the like make of the events.
#pragma once

#include <memory>

#include "cli/options.h"
#include "decode/decoder.h"
#include "names/names.h"
#include "pipeline/channels.h"
#include "pipeline/view.h"
#include "pipeline/views/export.h"
#include "pipeline/views/text.h"
#include "spec/spec.h"

namespace tracer::app {

/// What views are made of.
struct ViewParts {
  const spec::Tables& tables;
  const decode::Decoder& decoder;
  names::Names names;        ///< those that the options ask for
  names::Names plain_names;  ///< paths and commands, whatever the options say
  pipeline::Channels channels;
  pipeline::views::TextViewOptions settings;
  pipeline::views::ExportView::Make make_export;  ///< empty if the format is no export
};

/// Returns null if only an explanation is asked for. `options`, tables and decoder outlive the view.
std::unique_ptr<pipeline::View> make_view(const cli::Options& options, ViewParts parts);

}  // namespace tracer::app
