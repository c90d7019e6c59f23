// What --record, --replay and the options that belong to them exclude.
#include <fmt/core.h>

#include "cli/draft.h"

namespace tracer::cli {
namespace {

/// An option that was given, and why it excludes --replay or --explain=FILE.
struct Excluded {
  bool given = false;
  std::string_view option;
  std::string_view reason;
};

/// `recording` is the option that names the recording.
Applied check_recorded(const Options& options, std::string_view recording) {
  const Startup& startup = options.startup;
  const Extras& extras = options.extras;
  const TraceFiles& files = extras.files;
  const Format& format = options.format;
  constexpr std::string_view source = "a recording takes the place of a program";
  constexpr std::string_view choice = "the recording was made already";
  constexpr std::string_view live = "it has to be looked up while a thread is stopped";
  const Excluded excluded[] = {
      {!startup.program.empty(), "PROG", source},
      {!startup.attach.empty(), "-p/--attach", source},
      {extras.any_scope(), scope_options, source},
      {!extras.files.record.empty(), "--record", choice},
      {extras.engine != EngineChoice::automatic, "--engine", choice},
      {!options.injections.empty(), "-e inject/--inject", choice},
      {startup.detach_on_execve, "-b/--detach-on", choice},
      {startup.daemonize != process::Daemonize::no, "-D/--daemonize", choice},
      {startup.kill_on_exit, "--kill-on-exit", choice},
      {startup.survive, "--survive", choice},
      {startup.user.has_value(), "-u/--user", choice},
      {startup.seccomp_bpf, "--seccomp-bpf", choice},
      {files.in_memory(), "--record-last", choice},
      {!files.when.empty(), "--record-when", choice},
      {!startup.environment.empty(), "-E/--env", choice},
      {extras.explain_after.has_value(), "--explain-after", choice},
      {format.namespaces, "--namespace", live},
      {format.secontext.shown, "--secontext", live},
      {format.kvm != Kvm::none, "--kvm", live},
      {extras.rings, "--io-uring", live},
  };
  for (const Excluded& one : excluded) {
    if (one.given) {
      return Failure{fmt::format("{} and {} cannot be given together: {}", recording, one.option, one.reason), true};
    }
  }
  return std::nullopt;
}

Applied check_view(const Options& options) {
  const Extras& extras = options.extras;
  const TraceFiles& files = extras.files;
  constexpr std::string_view terminal = "the viewer writes to the terminal alone";
  constexpr std::string_view again = "the viewer reads the file anew";
  const Excluded excluded[] = {
      {options.output.to != Output::To::standard_error, "-o/--output", terminal},
      {options.format.output != OutputFormat::text, "--format", terminal},
      {options.summary.mode != SummaryMode::none, "-c/--summary-only or -C/--summary", terminal},
      {extras.explain, "--explain", terminal},
      {options.startup.daemonize != process::Daemonize::no, "-D/--daemonize", "the viewer opens when the program ends"},
      {files.information, "--info", terminal},
      {files.in_memory(), "--record-last", again},
      {files.record == "-", "--record=-", again},
      {files.replay == "-", "--replay=-", again},
  };
  for (const Excluded& one : excluded) {
    if (one.given) {
      return Failure{fmt::format("--view and {} cannot be given together: {}", one.option, one.reason), true};
    }
  }
  return std::nullopt;
}

}  // namespace

Applied finish_trace_files(Options& options) {
  const TraceFiles& files = options.extras.files;
  if (options.extras.view) {
    if (auto failure = check_view(options)) {
      return failure;
    }
    options.startup.follow_forks = options.startup.follow_forks || !options.startup.program.empty();
  }
  if (!files.replay.empty()) {
    if (!options.extras.explain_trace.empty()) {
      return Failure{"--replay=FILE and --explain=FILE name two recordings: write --replay=FILE --explain", true};
    }
    return check_recorded(options, "--replay");
  }
  if (!options.extras.explain_trace.empty()) {
    if (auto failure = check_recorded(options, "--explain=FILE")) {
      return failure;
    }
  }
  if (files.in_memory() && files.record.empty()) {
    return Failure{"--record-last needs --record=FILE", true};
  }
  if (!files.when.empty() && !files.in_memory()) {
    return Failure{"--record-when needs --record-last=TIME|SIZE", true};
  }
  for (const auto& [given, option] :
       {std::pair{files.information, "--info"}, std::pair{files.from.has_value(), "--from"},
        std::pair{files.to.has_value(), "--to"}}) {
    if (given) {
      return Failure{fmt::format("{} needs --replay=FILE", option), true};
    }
  }
  const bool records = !files.record.empty() || options.extras.view;
  if (records && options.format.string_limit > most_recorded_text) {
    return Failure{
        fmt::format("a recording has no strings of more than {} bytes: give a smaller -s", most_recorded_text), true};
  }
  return std::nullopt;
}

}  // namespace tracer::cli
