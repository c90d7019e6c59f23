#include "app/viewed_verdict.h"

#include "app/explaining.h"
#include "app/wiring.h"
#include "decoders/decoders.h"
#include "names/proc_names.h"
#include "pipeline/pipeline.h"

namespace tracer::app {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::optional<std::vector<std::string>> verdict_on(pid_t process, std::size_t block,
                                                   replay::viewer::Recording& recording, const replay::Head& head,
                                                   const cli::Options& options, const spec::Tables& tables,
                                                   const replay::viewer::ViewerOptions::GoesOn& goes_on) {
  names::NameOptions with_paths;
  with_paths.paths = true;
  names::ProcNames names(with_paths);
  decode::Options settings;
  settings.string_limit = explained_text;
  const decode::Decoder decoder(tables, settings, names.names(), decoders::all());
  explain::Story story(false, true, head.engine != "bpf");
  explain::ProcSystemView system;  // not asked: a recording has snapshots
  pipeline::views::ExplainView view(tables, decoder, story, system, head.native, [](std::string_view) {});
  pipeline::PipelineOptions wanted = pipeline_options(options, tables);
  wanted.filter = {};
  wanted.native = head.native;
  pipeline::Pipeline pipeline(std::move(wanted), tables, decoder, names.names().descriptors, view, nullptr,
                              [](std::string_view) {});
  const auto is_over = [&] {
    const explain::Process* known = story.find(process);
    return known != nullptr && known->exit;
  };
  for (std::size_t at = 0; at < recording.blocks() && (at <= block || !is_over()); ++at) {
    if (!recording.play(at, at + 1, pipeline, [&] { return goes_on(at); })) {
      return std::nullopt;
    }
  }
  const explain::Process* known = story.find(process);
  return known == nullptr ? lines_of("Nothing is known of this process.")
                          : lines_of(explain::report_text(explain::explain(story, *known), false, true));
}

}  // namespace tracer::app
