// Wiring only: the command line chooses the parts, the engine drives the pipeline, the exit status is the program's.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arch/syscall_abi.h"
#include "base/write_all.h"
#include "cli/ltrace.h"
#include "cli/parser.h"
#include "cli/tips.h"
#include "decode/decoder.h"
#include "decoders/decoders.h"
#include "definitions.h"
#include "doctor.h"
#include "engine_choice.h"
#include "explaining.h"
#include "library/debug_prototypes.h"
#include "list_probes.h"
#include "ptrace/front.h"
#include "stack/function_names.h"
#include "terminal.h"
#include "trace/pipeline_folded.h"
#include "trace/pipeline_json.h"
#include "wiring.h"

namespace tracer {

namespace {

void say(std::string_view text) {
  // Nobody is left to tell if even this fails.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

/// What a run for information only prints. Its exit status.
int print(std::string_view text) {
  return write_all(STDOUT_FILENO, text) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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

int wait_status_of(const cli::Options& options, const RunEnd& end) {
  // An execve that fails when there is no way back any more kills.
  if (end.exec_error != 0 && !WIFSIGNALED(end.program_status.value_or(0))) {
    return exit_status(status_of_failed_launch(options, end.exec_error));
  }
  return end.interrupted_by_signal ? end.interrupting_signal : end.program_status.value_or(0);
}

/// Null where nothing but an explanation is asked for. The others outlive it.
std::unique_ptr<pipeline::View> make_view(const cli::Options& options, const spec::Tables& tables,
                                          const decode::Decoder& decoder, decode::Names& names,
                                          decode::Names& plain_names, pipeline::Channels channels,
                                          pipeline::TextViewOptions settings) {
  if (options.extras.explain && options.output.to == cli::Output::To::standard_error) {
    return nullptr;
  }
  switch (options.format.output) {
    case cli::OutputFormat::json:
      return std::make_unique<pipeline::JsonView>(
          tables, decoder, plain_names, std::move(channels),
          pipeline::JsonViewOptions{settings.native, settings.flush_each_event});
    case cli::OutputFormat::folded:
      return std::make_unique<pipeline::FoldedView>(tables, decoder, plain_names, std::move(channels),
                                                    folded_weight(options));
    case cli::OutputFormat::text:
      break;
  }
  if (options.ltrace) {
    return std::make_unique<pipeline::LtraceView>(std::move(settings), ltrace_view_options(options), tables, decoder,
                                                  names, std::move(channels));
  }
  return std::make_unique<pipeline::TextView>(std::move(settings), tables, decoder, names, std::move(channels));
}

struct Ended {
  std::unique_ptr<Engine> engine;  ///< has the last word
  int wait_status = 0;
};

/// `more`: what `tables` may gain meanwhile.
Ended trace(const cli::Options& options, const spec::Tables& tables, spec::GrowingTables& more, const Speaker& speak) {
  const auto complain = [&speak](std::string_view sentence) { speak(sentence); };
  const auto failure = [&speak](const Error& error) {
    if (!error.message.empty()) {  // else it has been told
      speak(error.message);
    }
    return Ended{nullptr, exit_status(EXIT_FAILURE)};
  };

  auto launch = engine_options(options, tables);
  if (!launch) {
    return failure(launch.error());
  }
  auto channels = open_channels(options, complain);
  if (!channels) {
    return failure(channels.error());
  }
  if (auto& command = launch.value().launch) {
    auto path = command_path(options);
    if (!path) {
      if (options.extras.explain) {
        Explaining(options, tables, native_abi(), nullptr, true).tell_missing_program(options.startup.program.front());
      } else {
        speak(path.error().message);
      }
      return {nullptr, exit_status(status_of_failed_launch(options, path.error().number))};
    }
    command->path = std::move(path).value();
  }
  auto chosen = choose_engine(options, std::move(launch).value(), tables, complain);
  if (!chosen) {
    return failure(chosen.error());
  }

  auto contexts = security_contexts(options);
  if (!contexts) {
    return failure(contexts.error());
  }
  auto stack_tracer = make_stack_tracer(options, tables);
  if (!stack_tracer) {
    return failure(stack_tracer.error());
  }
  decode::DescriptorNames names(name_options(options), std::move(contexts).value());
  stack::FunctionNames functions;
  if (!options.ltrace) {
    names.set_functions([&functions](pid_t tid, std::uint64_t address) { return functions.at(tid, address); });
  }
  decode::NameOptions plain;
  plain.paths = true;
  plain.commands = true;
  decode::DescriptorNames plain_names(plain);  // for -P and for records, whatever -y and -Y say
  const decode::Decoder decoder(tables, decoder_options(options), names, decoders::all());
  if (!decoder.missing_custom().empty()) {
    return failure({0, "--define: there is no custom decoder '" + std::string(decoder.missing_custom()) + "'"});
  }

  auto pipeline_settings = pipeline_options(options, tables);
  pipeline_settings.filter.paths = traced_paths(options, complain);
  auto view_settings = text_view_options(options, complain);
  view_settings.hold_calls = pipeline_settings.filter.needs_end();
  const Abi native = view_settings.native;
  const auto view =
      make_view(options, tables, decoder, names, plain_names, std::move(channels).value(), std::move(view_settings));
  std::unique_ptr<Explaining> explaining;
  if (options.extras.explain) {
    explaining = std::make_unique<Explaining>(options, tables, native, view.get(), !chosen.value().in_kernel);
  }
  std::optional<render::Summary> summary;
  if (options.summary.mode != cli::SummaryMode::none) {
    auto summary_settings = summary_options(options);
    if (chosen.value().in_kernel && !summary_settings.overhead) {
      summary_settings.overhead = std::chrono::nanoseconds(0);
    }
    summary.emplace(tables, std::move(summary_settings));
  }
  std::unique_ptr<StackTracer> stacks = std::move(stack_tracer).value();
  if (!stacks && explaining) {
    stacks = std::make_unique<DeathStacks>(tables);
  }
  pipeline_settings.stacks = stacks.get();
  library::DebugPrototypes prototypes(more);
  pipeline_settings.prototypes = &prototypes;
  if (options.extras.explain_after) {
    pipeline_settings.alarm_at = std::chrono::steady_clock::now().time_since_epoch() + *options.extras.explain_after;
    pipeline_settings.on_alarm = [&explaining, only_attached = options.startup.program.empty()] {
      explaining->report(true);
      return only_attached ? Verdict::detach_all : Verdict::go_on;
    };
  }
  pipeline::Pipeline pipeline(std::move(pipeline_settings), tables, decoder, plain_names,
                              explaining ? explaining->view() : *view, summary ? &*summary : nullptr, complain);

  auto run = chosen.value().engine->run(pipeline);
  if (summary) {
    TextBuffer table;
    summary->write(table, native);
    view->raw(table.view());
  }
  if (view) {
    view->finish();
    view->flush();
  }
  if (explaining) {
    explaining->report_end();
  }
  Ended ended = run ? Ended{nullptr, wait_status_of(options, run.value())} : failure(run.error());
  ended.engine = std::move(chosen.value().engine);
  return ended;
}

/// What takes no tracing, if that is what the options ask for: the exit status.
std::optional<int> run_errand(const cli::Options& options, const Speaker& speak) {
  if (!options.extras.explain_trace.empty()) {
    return explain_recorded(options);
  }
  if (!options.extras.list_probes.empty()) {
    const auto list = list_of_probes(options.extras.list_probes);
    if (!list) {
      speak(list.error().message);
      return EXIT_FAILURE;
    }
    return print(list.value());
  }
  if (options.extras.doctor) {
    return print(doctor_report());
  }
  if (options.startup.program.empty() && options.startup.attach.empty() && options.tips.shown) {
    say(cli::tip_text(options.tips));
    return EXIT_SUCCESS;
  }
  return std::nullopt;
}

int run(const std::vector<std::string>& words) {
  cli::Surroundings surroundings;
  surroundings.user = ::geteuid();
  surroundings.abis = machine_abis();
  // The names of calls on the command line may be those of --define, so that comes first.
  spec::TableSet defined;
  spec::Tables tables = spec::builtin_tables();
  if (const auto files = cli::is_ltrace(words) ? std::vector<std::string>{} : cli::defined_files(words);
      !files.empty()) {
    auto compiled = compile_definitions(files);
    if (!compiled) {
      Speaker{words.front()}(compiled.error().message);
      return EXIT_FAILURE;
    }
    defined = std::move(compiled).value();
    tables = defined.view();
  }
  surroundings.columns = terminal_columns();
  auto outcome = cli::is_ltrace(words) ? cli::parse_ltrace_command_line(words, surroundings)
                                       : cli::parse_command_line(words, tables, surroundings);
  if (const auto* information = std::get_if<cli::Information>(&outcome)) {
    return print(information->text);
  }
  if (const auto* error = std::get_if<cli::UsageError>(&outcome)) {
    say(error->text);
    return EXIT_FAILURE;
  }
  const cli::Options options = with_explaining(std::get<cli::Options>(std::move(outcome)), tables);
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
  const Ended ended = trace(options, tables, more, speak);
  if (options.tips.shown) {
    say(cli::tip_text(options.tips));
  }
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
