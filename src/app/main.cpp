// Reads the command line, does what it asks, and exits with the program's status.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#if defined(TRACER_STATIC) && __has_include(<nss.h>)
#include <nss.h>
#define TRACER_ASKS_FILES_ALONE
#endif

#include "app/definitions.h"
#include "app/doctor.h"
#include "app/explaining.h"
#include "app/exporting.h"
#include "app/list_probes.h"
#include "app/raised_rights.h"
#include "app/recording.h"
#include "app/speaker.h"
#include "app/terminal.h"
#include "app/tracing.h"
#include "app/viewing.h"
#include "app/wiring.h"
#include "arch/syscall_abi.h"
#include "cli/ltrace.h"
#include "cli/parser.h"
#include "cli/tips.h"
#include "process/stack_limit.h"
#include "ptrace/foreground_proxy.h"
#include "replay/information.h"
#include "spec/strace_tables.h"

namespace tracer::app {

namespace {

/// The descriptions beside the built-in ones.
struct Definitions {
  std::vector<sysc::Source> sources;
  spec::TableSet tables;  ///< empty if there are no sources
};

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

/// Reads and compiles the files of --define; without any, the descriptions that `recorded` has. Those are left out if
/// they do not compile, because they may be from another version of this program.
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

/// Adds the prototypes of ltrace.conf files if the program is called ltrace. Returns what is wrong with them: lines for
/// the output, where ltrace has them.
Result<std::string> add_user_prototypes(const cli::Options& options, spec::GrowingTables& more) {
  std::string errors;
  if (options.ltrace) {
    auto prototypes = compile_prototypes(
        options.ltrace->prototypes, [](const std::string& line) { say(line + '\n'); }, errors);
    if (!prototypes) {
      return prototypes.error();
    }
    if (prototypes.value()) {
      more.add(*prototypes.value());
    }
  }
  return errors;
}

/// Does what the options ask for. `tables` may gain prototypes. `recorded`: the trace file that they name; null: none.
int perform(cli::Options options, spec::Tables& tables, const Definitions& definitions,
            Result<std::unique_ptr<replay::TraceFile>> recorded) {
  const Speaker speak(options.program_name);
  spec::GrowingTables more(tables);
  const auto prototype_errors = add_user_prototypes(options, more);
  if (!prototype_errors) {
    speak(prototype_errors.error().message);
    return EXIT_FAILURE;
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
  ViewedRun viewed_run;
  if (options.extras.view && !recorded.value()) {
    auto viewed = record_for_view(options);
    if (!viewed) {
      speak(viewed.error().message);
      return EXIT_FAILURE;
    }
    if (!viewed.value().is_recorder) {
      viewed_run = std::move(viewed).value();
      recorded = std::move(viewed_run.file);
      if (!recorded.value()) {
        ptrace::end_like(viewed_run.wait_status);  // nothing was traced, and the recorder has said why
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
    ptrace::end_like(status != 0 ? status : viewed_run.wait_status);
  }
  options = with_export(std::move(options), tables);
  Tracing tracing(options, tables, more, definitions.sources, speak);
  const Ended ended = tracing.run(std::move(recorded).value(), prototype_errors.value());
  if (options.tips.shown) {
    say(cli::tip_text(options.tips));
  }
  if (ended.engine) {
    ended.engine->finish(ended.wait_status);
  }
  ptrace::end_like(ended.wait_status);
}

int run(const std::vector<std::string>& words) {
  drop_raised_rights();
  const auto stack_limit = process::raise_stack_limit();
  if (!stack_limit) {
    Speaker{words.empty() ? "" : words.front()}(stack_limit.error().message);
    return EXIT_FAILURE;
  }
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
  options.startup.stack_limit = stack_limit.value();
  std::optional<spec::StraceTables> as_strace;
  if (options.compat == cli::Compat::strace) {
    tables = as_strace.emplace(tables).tables();
  }
  return perform(std::move(options), tables, definitions.value(), std::move(recorded));
}

}  // namespace

}  // namespace tracer::app

int main(int argc, char** argv) {
#ifdef TRACER_ASKS_FILES_ALONE
  // What else nsswitch.conf(5) names is a library, which a static program cannot load.
  for (const char* database : {"passwd", "group", "initgroups"}) {
    ::__nss_configure_lookup(database, "files");
  }
#endif
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
