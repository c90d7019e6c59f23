#include "app/viewing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <variant>

#include "app/naming.h"
#include "app/recording.h"
#include "app/terminal.h"
#include "app/viewed_verdict.h"
#include "app/wiring.h"
#include "base/read_file.h"
#include "base/write_all.h"
#include "cli/parser.h"
#include "decoders/decoders.h"
#include "functions/library/debug_prototypes.h"
#include "pipeline/exports/shell_words.h"
#include "process/forwarded_signals.h"
#include "replay/viewer/viewer.h"

namespace tracer::app {

namespace {

Result<std::unique_ptr<replay::viewer::Terminal>> open_terminal(const cli::Options& options) {
  // It asks itself whether the terminal has any.
  return replay::viewer::Terminal::open(wants_colors(options.format.color, [] { return true; }));
}

// ---------------------------------------------------------------------------------------------- a live run

/// A file without a name.
Result<UniqueFd> open_unnamed() {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory == nullptr || *directory == 0 ? "/tmp" : directory) + "/tracer-XXXXXX";
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) {
    return Error{errno, fmt::format("--view: {}: {} (TMPDIR names another directory)", path, std::strerror(errno))};
  }
  static_cast<void>(::unlink(path.c_str()));
  return file;
}

void say_messages(const ViewedRun& run) {
  static_cast<void>(write_all(STDERR_FILENO, read_file(fmt::format("/proc/self/fd/{}", run.messages.get()))));
}

/// Opens the file as soon as its recorder has begun it, or has ended.
void await_head(ViewedRun& run, const std::string& path) {
  constexpr timespec between_looks = {0, 20'000'000};
  while (run.file == nullptr && run.recorder.valid()) {
    if (const std::optional<int> status = run.recorder.ended()) {
      run.wait_status = *status;
    }
    if (auto file = replay::TraceFile::open(path)) {
      run.file = std::move(file).value();
    } else if (run.recorder.valid()) {
      ::nanosleep(&between_looks, nullptr);
    }
  }
  if (!run.recorder.valid()) {
    say_messages(run);
  }
}

// ---------------------------------------------------------------------------------------------- filters

/// Splits what a person has typed into words, as a shell does; quotation marks keep blanks.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (const char c : text) {
    if (quote == 0 && c == ' ') {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) {
      words.emplace_back();
    }
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// Reads a filter that a person has typed: options of the command line, or the argument of -e.
Result<pipeline::FilterOptions> read_filter(const std::string& text, const cli::Options& options,
                                            const spec::Tables& tables) {
  std::vector<std::string> words = split_words(text);
  if (!words.empty() && !words.front().starts_with('-')) {
    words.insert(words.begin(), "-e");
  }
  words.insert(words.begin(), {options.program_name, "--replay=" + options.extras.files.replay});
  cli::Environment environment;
  environment.user = ::geteuid();
  const auto outcome = cli::parse_command_line(words, tables, environment);
  if (const auto* wrong = std::get_if<cli::UsageError>(&outcome)) {
    std::string line = wrong->text.substr(0, wrong->text.find('\n'));
    const std::string prefix = options.program_name + ": ";
    return Error{0, line.starts_with(prefix) ? line.substr(prefix.size()) : line};
  }
  const auto* given = std::get_if<cli::Options>(&outcome);
  if (given == nullptr) {
    return Error{0, "this is no filter"};
  }
  pipeline::FilterOptions filter = pipeline_options(*given, tables).filter;
  filter.paths = traced_paths(*given, [](std::string_view) {});
  return filter;
}

// ---------------------------------------------------------------------------------------------- what is shown

/// The names of files and sockets belong to descriptors, unless others are asked for.
cli::Options with_view(cli::Options options) {
  if (options.format.fd_details.empty()) {
    options.format.fd_details = {cli::FdDetail::path, cli::FdDetail::socket};
  }
  options.format.quiet.add(filter::Quiet::attach);
  return options;
}

pipeline::views::TextViewOptions row_options(const cli::Options& options) {
  auto result = text_view_options(options, [](std::string_view) {});
  result.prefix = {};
  result.calls.palette = {};
  result.duration_digits.reset();
  result.show_pid = pipeline::views::ShowPid::never;
  result.show_command = false;
  result.show_context = false;
  result.program_to_come = false;
  result.flush_each_event = false;
  result.hold_calls = true;
  result.indent = std::max(options.format.indent, 2U);
  return result;
}

std::string title_of(const replay::TraceFile& file, bool is_named) {
  const auto& words = file.head().program.empty() ? file.head().command : file.head().program;
  std::string title = is_named ? file.name() + ": " : "";
  for (const std::string& word : words) {
    title += pipeline::exports::shell_word(word) + ' ';
  }
  return title;
}

}  // namespace

Status check_viewer_terminal(const cli::Options& options) {
  const auto terminal = open_terminal(options);
  return terminal ? Status(Done{}) : Status(Error{0, "--view: " + terminal.error().message});
}

Result<ViewedRun> record_for_view(cli::Options& options) {
  std::string& path = options.extras.files.record;
  UniqueFd unnamed;
  if (path.empty()) {
    auto opened = open_unnamed();
    if (!opened) {
      return opened.error();
    }
    unnamed = std::move(opened).value();
    path = fmt::format("/proc/self/fd/{}", unnamed.get());
  }
  ViewedRun run;
  const bool at_once = options.startup.program.empty();
  if (at_once) {
    auto opened = open_unnamed();
    if (!opened) {
      return opened.error();
    }
    run.messages = std::move(opened).value();
  }
  std::optional<process::ForwardedSignals> signals(std::in_place);
  auto recorder = Child::fork();
  if (!recorder) {
    return recorder.error();
  }
  if (!recorder.value().valid()) {
    signals.reset();
    static_cast<void>(unnamed.release());  // the path is that of the descriptor
    if (at_once) {
      ::dup2(run.messages.get(), STDERR_FILENO);  // the viewer has the terminal
    }
    run.is_recorder = true;
    return run;
  }
  if (at_once) {
    run.recorder = std::move(recorder).value();
    await_head(run, path);
    return run;
  }
  run.wait_status = signals->wait_for(std::move(recorder).value());
  auto file = replay::TraceFile::open(path);
  if (file && !file.value()->places().empty()) {
    run.file = std::move(file).value();
  }
  return run;
}

void end_recorder(ViewedRun& run) {
  if (run.recorder.valid()) {
    ::kill(run.recorder.pid(), SIGINT);
    run.recorder.wait();
    run.wait_status = 0;  // of processes that were attached to, none is this one's program
    say_messages(run);
  }
}

int view_recording(const cli::Options& given, const spec::Tables& tables, spec::GrowingTables& more,
                   std::unique_ptr<replay::TraceFile> file, const std::function<void(std::string_view)>& complain) {
  constexpr int failure = EXIT_FAILURE << 8;  // as waitpid(2) has it
  const auto refuse = [&complain](const std::string& why) {
    complain("--view: " + why);
    return failure;
  };
  if (!file->can_seek()) {
    return refuse(file->name() + " is no file in which the viewer can go back and forth");
  }
  const cli::Options options = with_view(given);
  auto terminal = open_terminal(options);
  if (!terminal) {
    return refuse(terminal.error().message);
  }
  const replay::Head head = file->head();
  replay::viewer::ViewerOptions settings;
  settings.title = title_of(*file, !options.extras.files.replay.empty());
  settings.start = head.started;
  settings.utf8 = has_utf8_locale();
  settings.read_filter = [&](const std::string& text) { return read_filter(text, options, tables); };

  const auto ignore = [](std::string_view) {};
  auto functions = function_options(options);
  if (!functions) {
    return refuse(functions.error().message);
  }
  auto replayed = replay_options(options, *file, std::move(functions).value().selection, ignore);
  const auto engine = std::make_unique<replay::ReplayEngine>(std::move(file), std::move(replayed), tables, ignore);
  Naming naming(options, names::SecurityContexts({}, nullptr), &engine->kernel_facts());
  const decode::Decoder decoder(tables, decoder_options(options), naming.names(), decoders::all());
  decode::Options whole = decoder_options(options);
  whole.string_limit = head.string_limit;
  const decode::Decoder whole_decoder(tables, whole, naming.names(), decoders::all());
  functions::library::DebugPrototypes prototypes(more, debuginfo::Targets::of_arguments, ignore);
  PrototypesOfFiles recorded_prototypes(prototypes);

  replay::viewer::RecordingOptions shown;
  shown.pipeline = pipeline_options(options, tables);
  shown.pipeline.native = head.native;
  shown.pipeline.filter.paths = traced_paths(options, ignore);
  shown.pipeline.prototypes = &recorded_prototypes;
  shown.text = row_options(options);
  shown.text.native = head.native;
  shown.stacks = head.stacks ? &engine->stacks() : nullptr;
  replay::viewer::Recording recording(std::move(shown), *engine, tables, decoder, whole_decoder, naming.names(),
                                      naming.plain_names().descriptors);
  settings.explain = [&](pid_t process, std::size_t block, const replay::viewer::ViewerOptions::GoesOn& goes_on) {
    return verdict_on(process, block, recording, head, options, tables, goes_on);
  };
  const cli::Filters& filters = options.filters;
  settings.filtered = !filters.trace.full() || filters.by_path_or_fd() || filters.end.any() || !filters.signals.full();
  settings.folds =
      options.format.fold == cli::Fold::always || (options.format.fold == cli::Fold::automatic && !settings.filtered);
  if (!engine->file().is_whole()) {
    settings.missing = "the recording has no end: it still goes on, the recorder was killed, or the file is cut off";
  }
  return replay::viewer::Viewer(*terminal.value(), recording, std::move(settings)).run();
}

}  // namespace tracer::app
