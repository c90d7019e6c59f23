#include "app/tracing.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "app/exporting.h"
#include "app/naming.h"
#include "app/recording.h"
#include "app/run_stacks.h"
#include "app/view_choice.h"
#include "app/wiring.h"
#include "arch/syscall_abi.h"
#include "base/text_buffer.h"
#include "cli/output_formats.h"
#include "decode/decoder.h"
#include "decoders/decoders.h"

namespace tracer::app {
namespace {

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
}  // namespace

Tracing::Tracing(const cli::Options& options, const spec::Tables& tables, spec::GrowingTables& more,
                 const std::vector<sysc::Source>& definitions, const Speaker& speak)
    : options_(options),
      tables_(tables),
      definitions_(definitions),
      speak_(speak),
      prototypes_(more, options.ltrace ? debuginfo::Targets::of_all : debuginfo::Targets::of_arguments, speak),
      native_(arch::native_abi()) {}

Ended Tracing::run(std::unique_ptr<replay::TraceFile> recorded, const std::string& ahead) {
  auto prepared = prepare(std::move(recorded));
  if (auto* const ended = std::get_if<Ended>(&prepared)) {
    return std::move(*ended);
  }
  return drive(std::get<Parts>(std::move(prepared)), ahead);
}

Ended Tracing::failed(const Error& error) const {
  if (!error.message.empty()) {  // an empty message has been reported already
    speak_(error.message);
  }
  return {nullptr, exit_status(EXIT_FAILURE)};
}

std::optional<Ended> Tracing::find_program(process::EngineOptions& engine) const {
  if (!engine.launch) {
    return std::nullopt;
  }
  auto path = command_path(options_);
  if (path) {
    engine.launch->path = std::move(path).value();
    return std::nullopt;
  }
  if (options_.extras.explain) {
    Explaining(options_, tables_, {arch::native_abi()}, nullptr)
        .explain_missing_program(options_.startup.program.front());
  } else {
    speak_(path.error().message);
  }
  return Ended{nullptr, exit_status(status_of_failed_launch(options_, path.error().number))};
}

std::variant<Tracing::Parts, Ended> Tracing::prepare(std::unique_ptr<replay::TraceFile> recorded) {
  auto engine_settings = engine_options(options_, tables_);
  if (!engine_settings) {
    return failed(engine_settings.error());
  }
  auto function_settings = function_options(options_);
  if (!function_settings) {
    return failed(function_settings.error());
  }
  const auto complain_of_output = [this](std::string_view sentence) {
    output_failed_ = true;
    speak_(sentence);
  };
  const auto leaves = std::make_shared<bool>(false);
  const auto is_to_end = watch_for_end(options_, leaves);
  auto channels = open_channels(options_, is_to_end, complain_of_output);
  if (!channels) {
    return failed(channels.error());
  }
  const auto verdict = [this] { return explaining_ ? explaining_->verdict() : std::string(); };
  auto make_export = export_maker(options_, complain_of_output, verdict);
  if (!make_export) {
    return failed(make_export.error());
  }
  engine_settings.value().output_reader = channels.value().reader();
  engine_settings.value().on_leaving = [leaves] { *leaves = true; };
  replay::ReplayEngine* replayed = nullptr;
  Result<ChosenEngine> source = ChosenEngine{};
  if (recorded) {
    native_ = recorded->head().native;
    source.value().name = recorded->head().engine;
    auto engine = make_replay_engine(options_, std::move(recorded), std::move(function_settings).value().selection,
                                     tables_, speak_);
    replayed = engine.get();
    source.value().engine = std::move(engine);
  } else if (auto ended = find_program(engine_settings.value())) {
    return std::move(*ended);
  } else {
    source = choose_engine(options_, std::move(engine_settings).value(), std::move(function_settings).value(), tables_,
                           prototypes_, speak_);
  }
  if (!source) {
    return failed(source.error());
  }
  auto recording = open_recording(options_, is_to_end, speak_);
  if (!recording) {
    return failed(recording.error());
  }
  auto contexts = security_contexts(options_);
  if (!contexts) {
    return failed(contexts.error());
  }
  auto stack_tracer = make_stack_tracer(options_, tables_, speak_);
  if (!stack_tracer) {
    return failed(stack_tracer.error());
  }
  return Parts{std::move(channels).value(),  std::move(make_export).value(), std::move(source).value(),      replayed,
               std::move(recording).value(), std::move(contexts).value(),    std::move(stack_tracer).value()};
}

Ended Tracing::drive(Parts parts, const std::string& ahead) {
  const bool is_live = parts.replayed == nullptr;
  if (is_live && !options_.strict) {
    report_missing_proc(options_, speak_);
  }
  Naming naming(options_, std::move(parts.contexts), is_live ? nullptr : &parts.replayed->kernel_facts());
  const decode::Decoder decoder(tables_, decoder_options(options_), naming.names(), decoders::all());
  if (!decoder.missing_custom().empty()) {
    return failed({0, "--define: there is no custom decoder '" + std::string(decoder.missing_custom()) + "'"});
  }

  auto settings = pipeline_options(options_, tables_);
  settings.native = native_;
  settings.filter.paths = traced_paths(options_, speak_);
  auto view_settings = text_view_options(options_, speak_);
  view_settings.hold_calls = settings.filter.end.any();
  view_settings.native = native_;
  const auto view = make_view(options_, {tables_, decoder, naming.names(), naming.plain_names(),
                                         std::move(parts.channels), std::move(view_settings), parts.make_export});
  if (!ahead.empty()) {
    view->raw(ahead);
    view->flush();
  }
  const bool in_kernel = parts.source.in_kernel();
  if (options_.extras.explain || wants_verdict(options_)) {
    explaining_ =
        std::make_unique<Explaining>(options_, tables_, Explaining::Run{native_, is_live, !in_kernel}, view.get());
  }
  std::optional<render::Summary> summary = make_summary(in_kernel);
  RunStacks stacks(options_, tables_, std::move(parts.stack_tracer), parts.replayed);
  settings.stacks = stacks.shown();
  PrototypesOfFiles recorded_prototypes(prototypes_);
  settings.prototypes = is_live ? static_cast<trace::PrototypeSource*>(&prototypes_) : &recorded_prototypes;
  set_alarm(settings);
  pipeline::Pipeline pipeline(std::move(settings), tables_, decoder, naming.plain_names().descriptors,
                              explaining_ ? explaining_->view() : *view, summary ? &*summary : nullptr, speak_);

  std::optional<replay::Recorder> recorder;
  if (parts.recording) {
    replay::RecorderOptions wanted;
    wanted.head = head_of(options_, parts.source.name, definitions_);
    wanted.calls = options_.filters.trace;
    wanted.functions = [&naming](pid_t tid, std::uint64_t address) { return naming.function_at(tid, address); };
    wanted.stacks = stacks.kept();
    wanted.prototypes = &prototypes_;
    wanted.triggers = options_.extras.files.when;
    recorder.emplace(std::move(wanted), tables_, std::move(parts.recording), pipeline);
  }

  const auto run = parts.source.engine->run(recorder ? static_cast<trace::EventHandler&>(*recorder) : pipeline);
  recorder.reset();
  if (summary) {
    TextBuffer table;
    summary->write(table, native_);
    view->raw(table.view());
  }
  if (view) {
    view->finish();
    view->flush();
  }
  if (options_.extras.explain) {
    explaining_->report_end();
  }
  Ended ended = end_of(run);
  ended.engine = std::move(parts.source.engine);
  return ended;
}

std::optional<render::Summary> Tracing::make_summary(bool in_kernel) const {
  if (options_.summary.mode == cli::SummaryMode::none) {
    return std::nullopt;
  }
  auto settings = summary_options(options_);
  if (in_kernel && !settings.overhead) {
    settings.overhead = std::chrono::nanoseconds(0);
  }
  return render::Summary(tables_, std::move(settings));
}

void Tracing::set_alarm(pipeline::PipelineOptions& settings) const {
  if (options_.extras.explain) {
    settings.alarm_at = [explaining = explaining_.get()] { return explaining->alarm_at(); };
    settings.on_alarm = [explaining = explaining_.get()] { return explaining->on_alarm(); };
  }
}

Ended Tracing::end_of(const Result<trace::RunEnd>& run) const {
  if (!run) {
    return failed(run.error());
  }
  Ended ended{nullptr, wait_status_of(options_, run.value())};
  if (output_failed_ && cli::row_of(options_.format.output).is_export && ended.wait_status == 0) {
    ended.wait_status = exit_status(EXIT_FAILURE);  // a part of a file is no export
  }
  return ended;
}

}  // namespace tracer::app
