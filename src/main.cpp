// Wiring only: the command line chooses the parts, the engine drives the pipeline, the exit status is the program's.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/parser.h"
#include "decode/decoder.h"
#include "decoders/decoders.h"
#include "ptrace/front.h"
#include "trace/pipeline_json.h"
#include "unbuilt.h"
#include "wiring.h"

namespace tracer {

namespace {

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// `strace: SENTENCE`, as one write, so that it is not torn by what tracees write.
class Speaker {
 public:
  explicit Speaker(std::string name) : name_(std::move(name)) {}
  void operator()(std::string_view sentence) const { say(name_ + ": " + std::string(sentence) + '\n'); }

 private:
  std::string name_;
};

/// As a shell would put it, unless scripts expect strace.
int status_of_failed_launch(const cli::Options& options, int number) {
  constexpr int not_found = 127;
  constexpr int not_executable = 126;
  if (options.strict) {
    return EXIT_FAILURE;
  }
  return number == ENOENT || number == ENOTDIR ? not_found : not_executable;
}

/// What tracing came to: a status as from waitpid(2).
constexpr int exit_status(int code) {
  return code << 8;
}

struct Ended {
  std::unique_ptr<Engine> engine;  ///< has the last word
  int wait_status = 0;
};

Ended trace(const cli::Options& options, const Speaker& speak) {
  const spec::Tables& tables = spec::builtin_tables();
  const auto complain = [&speak](std::string_view sentence) { speak(sentence); };

  auto launch = engine_options(options, tables);
  if (!launch) {
    speak(launch.error().message);
    return {nullptr, exit_status(status_of_failed_launch(options, launch.error().number))};
  }
  auto channels = open_channels(options, complain);
  if (!channels) {
    speak(channels.error().message);
    return {nullptr, exit_status(EXIT_FAILURE)};
  }

  decode::DescriptorNames names(name_options(options));
  decode::NameOptions plain;
  plain.paths = true;
  plain.commands = true;
  decode::DescriptorNames plain_names(plain);  // for -P and for records, whatever -y and -Y say
  const decode::Decoder decoder(tables, decoder_options(options), names, decoders::all());

  auto pipeline_settings = pipeline_options(options, tables);
  pipeline_settings.filter.paths = traced_paths(options, complain);
  auto view_settings = text_view_options(options);
  view_settings.hold_calls = pipeline::Filter(pipeline_settings.filter, tables, plain_names).needs_end();
  const pipeline::JsonViewOptions json_settings{view_settings.native, view_settings.flush_each_event};
  std::unique_ptr<pipeline::View> view;
  if (options.format.output == cli::OutputFormat::json) {
    view =
        std::make_unique<pipeline::JsonView>(tables, decoder, plain_names, std::move(channels).value(), json_settings);
  } else {
    view = std::make_unique<pipeline::TextView>(std::move(view_settings), tables, decoder, std::move(channels).value());
  }
  std::optional<render::Summary> summary;
  if (options.summary.mode != cli::SummaryMode::none) {
    summary.emplace(tables, summary_options(options));
  }
  pipeline::Pipeline pipeline(std::move(pipeline_settings), tables, decoder, plain_names, *view,
                              summary ? &*summary : nullptr, complain);

  if (options.startup.debug) {
    speak("engine: ptrace (this build has no other)");
    launch.value().debug = complain;
  }
  auto engine = make_ptrace_engine(std::move(launch).value(), complain);
  if (!engine) {
    if (!engine.error().message.empty()) {
      speak(engine.error().message);
    }
    return {nullptr, exit_status(EXIT_FAILURE)};
  }
  auto run = engine.value()->run(pipeline);
  if (summary) {
    TextBuffer table;
    summary->write(table, json_settings.native);
    view->raw(table.view());
  }
  view->flush();
  if (!run) {
    speak(run.error().message);
    return {std::move(engine).value(), exit_status(EXIT_FAILURE)};
  }
  const RunEnd& end = run.value();
  int status = end.program_status.value_or(0);
  if (end.exec_error != 0) {
    status = exit_status(status_of_failed_launch(options, end.exec_error));
  } else if (end.interrupted_by_signal) {
    status = end.interrupting_signal;
  }
  return {std::move(engine).value(), status};
}

int run(const std::vector<std::string>& words) {
  cli::Surroundings surroundings;
  surroundings.user = ::geteuid();
  auto outcome = cli::parse_command_line(words, spec::builtin_tables(), surroundings);
  if (const auto* information = std::get_if<cli::Information>(&outcome)) {
    std::fwrite(information->text.data(), 1, information->text.size(), stdout);
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (const auto* error = std::get_if<cli::UsageError>(&outcome)) {
    say(error->text);
    return EXIT_FAILURE;
  }
  const auto& options = std::get<cli::Options>(outcome);
  const Speaker speak(options.program_name);
  for (const std::string& warning : options.warnings) {
    say(warning);
  }
  if (const auto missing = not_built_yet(options)) {
    speak(*missing);
    return EXIT_FAILURE;
  }
  const Ended ended = trace(options, speak);
  if (ended.engine) {
    ended.engine->finish(ended.wait_status);
  }
  end_like(ended.wait_status);
}

}  // namespace

}  // namespace tracer

int main(int argc, char** argv) {
  try {
    return tracer::run(std::vector<std::string>(argv, argv + argc));
  } catch (const std::exception& error) {
    tracer::say((argc > 0 ? std::string(argv[0]) : std::string("strace")) + ": " + error.what() + '\n');
    return EXIT_FAILURE;
  }
}
