// Builds the parts as the command line asks, lets the engine drive the pipeline, and exits with the program's status.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/definitions.h"
#include "app/doctor.h"
#include "app/engine_choice.h"
#include "app/explaining.h"
#include "app/exporting.h"
#include "app/list_probes.h"
#include "app/naming.h"
#include "app/raised_rights.h"
#include "app/recording.h"
#include "app/run_stacks.h"
#include "app/terminal.h"
#include "app/viewing.h"
#include "app/wiring.h"
#include "arch/syscall_abi.h"
#include "base/printable.h"
#include "base/write_all.h"
#include "cli/ltrace.h"
#include "cli/parser.h"
#include "cli/tips.h"
#include "decode/decoder.h"
#include "decoders/decoders.h"
#include "functions/library/debug_prototypes.h"
#include "pipeline/views/folded.h"
#include "pipeline/views/folding_text.h"
#include "pipeline/views/json.h"
#include "pipeline/views/packets.h"
#include "ptrace/foreground_proxy.h"
#include "replay/information.h"
#include "spec/strace_tables.h"

namespace tracer::app {

namespace {

void say(std::string_view text) {
  // There is no other place to report an error of this to.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

/// Writes `strace: SENTENCE`, made printable, with one write(2), so that output of tracees does not split it.
class Speaker {
 public:
  explicit Speaker(std::string name) : name_(std::move(name)) {}
  void operator()(std::string_view sentence) const {
    TextBuffer text;
    text.append(name_);
    text.append(": ");
    append_printable(text, sentence);
    text.append('\n');
    say(text.view());
  }
  /// The same of errors in the files of --define, of which each has a line.
  void errors(std::string_view lines) const {
    TextBuffer text;
    text.append(name_);
    text.append(": ");
    for (std::size_t start = 0; start <= lines.size();) {
      const std::size_t end = std::min(lines.find('\n', start), lines.size());
      append_printable(text, lines.substr(start, end - start));
      text.append('\n');
      start = end + 1;
    }
    say(text.view());
  }

 private:
  std::string name_;
};

/// Prints information such as --help. Returns the exit status.
int print(std::string_view text, const Speaker& speak) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0) {
    speak(std::string("standard output: ") + std::strerror(error));
  }
  return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Returns the exit status that a shell would use, or that of strace where scripts expect it.
int status_of_failed_launch(const cli::Options& options, int number) {
  constexpr int not_found = 127;
  constexpr int not_executable = 126;
  if (options.strict) {
    return EXIT_FAILURE;
  }
  return number == ENOENT || number == ENOTDIR ? not_found : not_executable;
}

/// Encodes an exit code as a wait status (waitpid(2)).
constexpr int exit_status(int code) {
  return code << 8;
}

int wait_status_of(const cli::Options& options, const trace::RunEnd& end) {
  // An execve that fails after the point of no return kills the process.
  if (end.exec_error != 0 && !WIFSIGNALED(end.program_status.value_or(0))) {
    return exit_status(status_of_failed_launch(options, end.exec_error));
  }
  if (options.ltrace && (end.interrupting_signal == SIGINT || end.interrupting_signal == SIGTERM)) {
    return EXIT_SUCCESS;  // ltrace exits with 0 after these two
  }
  return end.interrupted_by_signal ? end.interrupting_signal : end.program_status.value_or(0);
}

/// Returns null if only an explanation is asked for. The arguments outlive the view.
std::unique_ptr<pipeline::View> make_view(const cli::Options& options, const spec::Tables& tables,
                                          const decode::Decoder& decoder, const names::Names& names,
                                          const names::Names& plain_names, pipeline::Channels channels,
                                          pipeline::views::TextViewOptions settings,
                                          const pipeline::views::ExportView::Make& make_export) {
  if (options.extras.explain && options.output.to == cli::Output::To::standard_error) {
    return nullptr;
  }
  if (options.extras.view) {
    return std::make_unique<SilentView>();
  }
  if (make_export) {
    return std::make_unique<pipeline::views::ExportView>(tables, decoder, plain_names.processes, std::move(channels),
                                                         make_export, settings.native);
  }
  switch (options.format.output) {
    case cli::OutputFormat::pcapng:
      return std::make_unique<pipeline::views::PacketsView>(decoder, plain_names.processes, std::move(channels));
    case cli::OutputFormat::json:
      return std::make_unique<pipeline::views::JsonView>(
          tables, decoder, plain_names.processes, std::move(channels),
          pipeline::views::JsonViewOptions{settings.native, settings.flush_each_event});
    case cli::OutputFormat::folded:
      return std::make_unique<pipeline::views::FoldedView>(tables, decoder, plain_names.processes, std::move(channels),
                                                           options.format.folded_weight);
    default:
      break;
  }
  if (options.ltrace) {
    return std::make_unique<pipeline::views::LtraceView>(std::move(settings), app::ltrace_view_options(options), tables,
                                                         decoder, names, std::move(channels));
  }
  if (wants_fold(options)) {
    return std::make_unique<pipeline::views::FoldingTextView>(std::move(settings), has_utf8_locale(), tables, decoder,
                                                              names, std::move(channels));
  }
  return std::make_unique<pipeline::views::TextView>(std::move(settings), tables, decoder, names, std::move(channels));
}

struct Ended {
  std::unique_ptr<trace::Engine> engine;  ///< its finish() is called last
  int wait_status = 0;
};

Ended failed(const Error& error, const Speaker& speak) {
  if (!error.message.empty()) {  // an empty message has been reported already
    speak(error.message);
  }
  return {nullptr, exit_status(EXIT_FAILURE)};
}

/// Sets the path of the program that the engine starts. If there is none, reports it and returns what to exit with.
std::optional<Ended> find_program(const cli::Options& options, const spec::Tables& tables,
                                  process::EngineOptions& engine, const Speaker& speak) {
  if (!engine.launch) {
    return std::nullopt;
  }
  auto path = app::command_path(options);
  if (path) {
    engine.launch->path = std::move(path).value();
    return std::nullopt;
  }
  if (options.extras.explain) {
    app::Explaining(options, tables, {arch::native_abi()}, nullptr)
        .explain_missing_program(options.startup.program.front());
  } else {
    speak(path.error().message);
  }
  return Ended{nullptr, exit_status(status_of_failed_launch(options, path.error().number))};
}

std::optional<render::Summary> make_summary(const cli::Options& options, const spec::Tables& tables, bool in_kernel) {
  if (options.summary.mode == cli::SummaryMode::none) {
    return std::nullopt;
  }
  auto settings = summary_options(options);
  if (in_kernel && !settings.overhead) {
    settings.overhead = std::chrono::nanoseconds(0);
  }
  return render::Summary(tables, std::move(settings));
}

/// Has the pipeline report after the time of --explain-after, and end when only programs in the background run on.
void set_alarm(pipeline::PipelineOptions& settings, Explaining* explaining) {
  if (explaining != nullptr) {
    settings.alarm_at = [explaining] { return explaining->alarm_at(); };
    settings.on_alarm = [explaining] { return explaining->on_alarm(); };
  }
}

/// The descriptions beside the built-in ones.
struct Definitions {
  std::vector<sysc::Source> sources;
  spec::TableSet tables;  ///< empty if there are no sources
};

/// `more`: the prototypes that `tables` may gain at run time. `recorded`: what --replay shows; null: a live run.
Ended trace(const cli::Options& options, const spec::Tables& tables, spec::GrowingTables& more,
            const Definitions& definitions, std::unique_ptr<replay::TraceFile> recorded, const Speaker& speak) {
  const auto complain = [&speak](std::string_view sentence) { speak(sentence); };
  auto engine_settings = engine_options(options, tables);
  if (!engine_settings) {
    return failed(engine_settings.error(), speak);
  }
  auto function_settings = function_options(options);
  if (!function_settings) {
    return failed(function_settings.error(), speak);
  }
  bool output_failed = false;
  const auto complain_of_output = [&](std::string_view sentence) {
    output_failed = true;
    speak(sentence);
  };
  auto channels = open_channels(options, complain_of_output);
  if (!channels) {
    return failed(channels.error(), speak);
  }
  std::unique_ptr<Explaining> explaining;
  const auto verdict = [&explaining] { return explaining ? explaining->verdict() : std::string(); };
  const auto exported = export_maker(options, complain_of_output, verdict);
  if (!exported) {
    return failed(exported.error(), speak);
  }
  engine_settings.value().output_reader = channels.value().reader();
  const Abi native = recorded ? recorded->head().native : arch::native_abi();
  const auto targets = options.ltrace ? debuginfo::Targets::of_all : debuginfo::Targets::of_arguments;
  functions::library::DebugPrototypes prototypes(more, targets, complain);
  replay::ReplayEngine* replayed = nullptr;
  Result<ChosenEngine> chosen = ChosenEngine{};
  if (recorded) {
    chosen = ChosenEngine{nullptr, recorded->head().engine};
    auto engine = make_replay_engine(options, std::move(recorded), std::move(function_settings).value().selection,
                                     tables, complain);
    replayed = engine.get();
    chosen.value().engine = std::move(engine);
  } else if (auto ended = find_program(options, tables, engine_settings.value(), speak)) {
    return std::move(*ended);
  } else {
    chosen = choose_engine(options, std::move(engine_settings).value(), std::move(function_settings).value(), tables,
                           prototypes, complain);
  }
  if (!chosen) {
    return failed(chosen.error(), speak);
  }
  const bool in_kernel = chosen.value().in_kernel();
  auto recording = open_recording(options, complain);
  if (!recording) {
    return failed(recording.error(), speak);
  }
  auto contexts = security_contexts(options);
  if (!contexts) {
    return failed(contexts.error(), speak);
  }
  auto stack_tracer = make_stack_tracer(options, tables, complain);
  if (!stack_tracer) {
    return failed(stack_tracer.error(), speak);
  }
  if (replayed == nullptr && !options.strict) {
    report_missing_proc(options, complain);
  }
  Naming naming(options, std::move(contexts).value(), replayed == nullptr ? nullptr : &replayed->kernel_facts());
  const decode::Decoder decoder(tables, decoder_options(options), naming.names(), decoders::all());
  if (!decoder.missing_custom().empty()) {
    return failed({0, "--define: there is no custom decoder '" + std::string(decoder.missing_custom()) + "'"}, speak);
  }

  auto settings = pipeline_options(options, tables);
  settings.native = native;
  settings.filter.paths = traced_paths(options, complain);
  auto view_settings = app::text_view_options(options, complain);
  view_settings.hold_calls = settings.filter.end.any();
  view_settings.native = native;
  const auto view = make_view(options, tables, decoder, naming.names(), naming.plain_names(),
                              std::move(channels).value(), std::move(view_settings), exported.value());
  if (options.extras.explain || wants_verdict(options)) {
    const Explaining::Run explained{native, replayed == nullptr, !in_kernel};
    explaining = std::make_unique<Explaining>(options, tables, explained, view.get());
  }
  std::optional<render::Summary> summary = make_summary(options, tables, in_kernel);
  RunStacks stacks(options, tables, std::move(stack_tracer).value(), replayed);
  settings.stacks = stacks.shown();
  PrototypesOfFiles recorded_prototypes(prototypes);
  settings.prototypes = &prototypes;
  if (replayed != nullptr) {
    settings.prototypes = &recorded_prototypes;
  }
  set_alarm(settings, options.extras.explain ? explaining.get() : nullptr);
  pipeline::Pipeline pipeline(std::move(settings), tables, decoder, naming.plain_names().descriptors,
                              explaining ? explaining->view() : *view, summary ? &*summary : nullptr, complain);

  std::optional<replay::Recorder> recorder;
  if (recording.value()) {
    replay::RecorderOptions wanted;
    wanted.head = head_of(options, chosen.value().name, definitions.sources);
    wanted.calls = options.filters.trace;
    wanted.functions = [&naming](pid_t tid, std::uint64_t address) { return naming.function_at(tid, address); };
    wanted.stacks = stacks.kept();
    wanted.prototypes = &prototypes;
    wanted.triggers = options.extras.files.when;
    recorder.emplace(std::move(wanted), tables, std::move(recording).value(), pipeline);
  }

  auto run = chosen.value().engine->run(recorder ? static_cast<trace::EventHandler&>(*recorder) : pipeline);
  recorder.reset();
  if (summary) {
    TextBuffer table;
    summary->write(table, native);
    view->raw(table.view());
  }
  if (view) {
    view->finish();
    view->flush();
  }
  if (options.extras.explain) {
    explaining->report_end();
  }
  Ended ended = run ? Ended{nullptr, wait_status_of(options, run.value())} : failed(run.error(), speak);
  if (output_failed && cli::row_of(options.format.output).is_export && ended.wait_status == 0) {
    ended.wait_status = exit_status(EXIT_FAILURE);  // a part of a file is no export
  }
  ended.engine = std::move(chosen.value().engine);
  return ended;
}

/// Does what needs no tracing. Returns the exit status, or nothing if the options ask for tracing.
std::optional<int> run_errand(const cli::Options& options, const Speaker& speak) {
  if (!options.extras.explain_trace.empty() && options.extras.files.replay.empty()) {
    return explain_recorded(options);
  }
  if (!options.extras.list_probes.empty()) {
    const auto list = list_of_probes(options.extras.list_probes, speak);
    if (!list) {
      speak(list.error().message);
      return EXIT_FAILURE;
    }
    return print(list.value(), speak);
  }
  if (options.extras.doctor) {
    return print(doctor_report(), speak);
  }
  const bool has_source =
      !options.startup.program.empty() || !options.startup.attach.empty() || !options.extras.files.replay.empty();
  if (!has_source && options.tips.shown) {
    say(cli::tip_text(options.tips));
    return EXIT_SUCCESS;
  }
  return std::nullopt;
}

/// Reads and compiles the files of --define; without any, what `recorded` was decoded with. The latter does without if
/// it cannot be compiled, as descriptions of another version of this program may not be.
Result<Definitions> define(const std::vector<std::string>& files, const replay::TraceFile* recorded,
                           const Speaker& speak) {
  Definitions definitions;
  if (files.empty() && recorded != nullptr) {
    for (const auto& [path, text] : recorded->head().definitions) {
      definitions.sources.push_back({path, text});
    }
  } else if (auto read = read_definitions(files)) {
    definitions.sources = std::move(read).value();
  } else {
    return read.error();
  }
  if (definitions.sources.empty()) {
    return definitions;
  }
  auto compiled = compile_definitions(definitions.sources);
  if (compiled) {
    definitions.tables = std::move(compiled).value();
  } else if (!files.empty()) {
    return compiled.error();
  } else {
    const std::string& errors = compiled.error().message;
    speak("the recording's own descriptions are left out: " + errors.substr(0, errors.find('\n')));
    definitions.sources.clear();
  }
  return definitions;
}

int run(const std::vector<std::string>& words) {
  drop_raised_rights();
  cli::Environment environment;
  environment.user = ::geteuid();
  environment.abis = arch::machine_abis();
  const cli::FilesAhead ahead = cli::is_ltrace(words) ? cli::FilesAhead{} : cli::files_ahead(words);
  auto recorded = open_recorded(ahead);
  const auto definitions =
      define(ahead.defined, recorded ? recorded.value().get() : nullptr, Speaker(words.empty() ? "" : words.front()));
  if (!definitions) {
    Speaker{words.front()}.errors(definitions.error().message);
    return EXIT_FAILURE;
  }
  spec::Tables tables =
      definitions.value().sources.empty() ? spec::builtin_tables() : definitions.value().tables.view();
  environment.columns = terminal_columns();
  auto outcome = cli::is_ltrace(words) ? cli::parse_ltrace_command_line(words, environment)
                                       : cli::parse_command_line(words, tables, environment);
  if (const auto* information = std::get_if<cli::Information>(&outcome)) {
    return print(information->text, Speaker(words.front()));
  }
  if (const auto* error = std::get_if<cli::UsageError>(&outcome)) {
    say(error->text);
    return EXIT_FAILURE;
  }
  cli::Options options = with_explaining(std::get<cli::Options>(std::move(outcome)), tables);
  options.extras.files = with_explained(options.extras);
  std::optional<spec::StraceTables> as_strace;
  if (options.compat == cli::Compat::strace) {
    tables = as_strace.emplace(tables).tables();
  }
  const Speaker speak(options.program_name);
  spec::GrowingTables more(tables);
  if (options.ltrace) {
    auto prototypes = compile_prototypes(options.ltrace->prototypes, [](const std::string& line) { say(line + '\n'); });
    if (!prototypes) {
      speak(prototypes.error().message);
      return EXIT_FAILURE;
    }
    if (prototypes.value()) {
      more.add(*prototypes.value());
    }
  }
  for (const std::string& warning : options.warnings) {
    say(warning);
  }
  if (const auto status = run_errand(options, speak)) {
    return *status;
  }
  if (!recorded) {
    speak(recorded.error().message);
    return EXIT_FAILURE;
  }
  if (options.extras.view) {
    if (const auto checked = check_viewer_terminal(options); !checked) {
      speak(checked.error().message);
      return EXIT_FAILURE;
    }
  }
  std::optional<int> status_of_run;
  ViewedRun viewed_run;
  if (options.extras.view && !recorded.value()) {
    auto viewed = record_for_view(options);
    if (!viewed) {
      speak(viewed.error().message);
      return EXIT_FAILURE;
    }
    if (!viewed.value().is_recorder) {
      viewed_run = std::move(viewed).value();
      status_of_run = viewed_run.wait_status;
      recorded = std::move(viewed_run.file);
      if (!recorded.value()) {
        ptrace::end_like(*status_of_run);  // nothing was traced, and the recorder has said why
      }
    }
  }
  if (recorded.value() && options.extras.files.information) {
    return print(replay::describe(*recorded.value()), speak);
  }
  if (recorded.value()) {
    options = with_recorded(std::move(options), recorded.value()->head(), speak);
  }
  if (recorded.value() && options.extras.view) {
    const int status = view_recording(options, tables, more, std::move(recorded).value(), speak);
    end_recorder(viewed_run);
    ptrace::end_like(status != 0 ? status : status_of_run.value_or(0));
  }
  options = with_export(std::move(options), tables);
  const Ended ended = trace(options, tables, more, definitions.value(), std::move(recorded).value(), speak);
  if (options.tips.shown) {
    say(cli::tip_text(options.tips));
  }
  if (ended.engine) {
    ended.engine->finish(ended.wait_status);
  }
  ptrace::end_like(ended.wait_status);
}

}  // namespace

}  // namespace tracer::app

int main(int argc, char** argv) {
  // A file size limit is a write that fails. A handler, unlike SIG_IGN, is not inherited by programs.
  struct sigaction former {};
  if (::sigaction(SIGXFSZ, nullptr, &former) == 0 && former.sa_handler == SIG_DFL) {
    ::signal(SIGXFSZ, [](int) {});
  }
  try {
    return tracer::app::run(std::vector<std::string>(argv, argv + argc));
  } catch (const std::bad_alloc&) {
    tracer::app::say("not enough memory for the tracer (ulimit -v)\n");
    return EXIT_FAILURE;
  } catch (const std::exception& error) {
    tracer::app::say((argc > 0 ? std::string(argv[0]) : std::string("strace")) + ": " + error.what() + '\n');
    return EXIT_FAILURE;
  }
}
