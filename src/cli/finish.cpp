// Checks that need the whole command line: contradictions, options without effect, and defaults that depend on other
// options. The order of the checks is that of strace, as far as its messages show it.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/draft.h"

namespace tracer::cli {
namespace {

/// What -D, -DD and -DDD mean.
constexpr std::array daemonize_levels = {process::Daemonize::grandchild, process::Daemonize::process_group,
                                         process::Daemonize::session};

Failure not_together(std::string_view one, std::string_view other) {
  return Failure{std::string(one) + " and " + std::string(other) + " cannot be provided simultaneously"};
}

Applied check_targets(const Options& options) {
  const Extras& extras = options.extras;
  const bool scope = !extras.explain_trace.empty() || extras.doctor || !extras.list_probes.empty() ||
                     extras.any_scope() || !extras.files.replay.empty();
  if (options.startup.program.empty() && options.startup.attach.empty() && !scope && !options.tips.shown) {
    return Failure{"must have PROG [ARGS] or -p PID", true};
  }
  return std::nullopt;
}

/// Checks that nothing is asked for that would harm tracees without a tracer.
Applied check_survival(const Options& options) {
  const Startup& startup = options.startup;
  const Extras& extras = options.extras;
  if (!startup.survive) {
    return std::nullopt;
  }
  if (startup.kill_on_exit) {
    return not_together("--survive", "--kill-on-exit");
  }
  if (startup.seccomp_bpf) {
    return not_together("--survive", "--seccomp-bpf");
  }
  if (!extras.libraries.empty() || !extras.symbols.empty() || !extras.probes.empty() || options.ltrace) {
    return Failure{
        "--survive: functions are traced with breakpoints, which kill a program that has lost its tracer; "
        "leave one of them out"};
  }
  return std::nullopt;
}

Applied finish_explain(Draft& draft) {
  Options& options = draft.options;
  if (!options.extras.explain) {
    return std::nullopt;
  }
  const bool has_target = !options.startup.program.empty() || !options.startup.attach.empty();
  if (!options.extras.explain_trace.empty() && has_target) {
    return Failure{"--explain=FILE is about a recorded run: leave out PROG and -p, or write --explain", true};
  }
  const Filters& filters = options.filters;
  const bool filtered =
      !filters.trace.full() || filters.end.any() || filters.by_path_or_fd() || !filters.signals.full();
  if (filtered) {
    return Failure{"--explain chooses the calls that it needs to see: leave out -e trace=, -P and other filters", true};
  }
  if (options.summary.mode != SummaryMode::none || options.startup.detach_on_execve ||
      options.startup.syscall_limit != 0) {
    return Failure{"--explain cannot be used with -c, -C, -b or --syscall-limit", true};
  }
  const OutputFormatRow& row = row_of(options.format.output);
  if ((row.is_export || row.format == OutputFormat::folded) && options.output.to == Output::To::standard_error) {
    return Failure{fmt::format("--format={} has no form for an explanation; with -o FILE {}", row.name,
                               row.is_export ? "it is written there" : "the stacks are kept there"),
                   true};
  }
  options.startup.follow_forks = true;
  return std::nullopt;
}

Applied finish_daemonize(Draft& draft) {
  Startup& startup = draft.options.startup;
  if (draft.short_daemonize > 0 && draft.long_daemonize) {
    return not_together("-D", "--daemonize");
  }
  if (draft.short_daemonize > daemonize_levels.size()) {
    return Failure{fmt::format("Too many -D's ({}), maximum supported -D count is {}", draft.short_daemonize,
                               daemonize_levels.size()),
                   true};
  }
  if (draft.short_daemonize > 0) {
    startup.daemonize = daemonize_levels[draft.short_daemonize - 1];
  }
  if (startup.daemonize != process::Daemonize::no && startup.program.empty()) {
    return Failure{"PROG [ARGS] must be specified with -D/--daemonize", true};
  }
  return std::nullopt;
}

Applied finish_argv0(Draft& draft) {
  const Startup& startup = draft.options.startup;
  if (startup.argv0 && startup.program.empty()) {
    return Failure{"PROG [ARGS] must be specified with --argv0", true};
  }
  return std::nullopt;
}

Applied finish_synonyms(Draft& draft) {
  Format& format = draft.options.format;
  if (draft.short_timestamps > 0 && draft.long_timestamps) {
    return not_together("-t", "--absolute-timestamps");
  }
  if (draft.short_strings_in_hex > 0 && draft.long_strings_in_hex) {
    return not_together("-x", "--strings-in-hex");
  }
  if (draft.short_decode_fds > 0 && draft.long_decode_fds) {
    return not_together("-y", "--decode-fds");
  }
  if (draft.short_follow_forks > 0 && draft.long_follow_forks) {
    return not_together("-f", "--follow-forks");
  }
  if (draft.short_follow_forks > 1 && draft.output_separately) {
    return not_together("-ff", "--output-separately");
  }
  if (draft.short_timestamps > 0) {
    format.timestamps = draft.short_timestamps < 3 ? render::Clock::time_of_day : render::Clock::unix_time;
    format.timestamp_digits = draft.short_timestamps == 1 ? 0 : microseconds;
  }
  if (draft.short_strings_in_hex > 0) {
    format.strings_in_hex = draft.short_strings_in_hex == 1 ? render::HexStrings::non_ascii : render::HexStrings::all;
  }
  if (draft.short_decode_fds == 1) {
    format.fd_details = {FdDetail::path};
  } else if (draft.short_decode_fds > 1) {
    format.fd_details = {FdDetail::path,  FdDetail::socket,  FdDetail::dev,
                         FdDetail::pidfd, FdDetail::eventfd, FdDetail::signalfd};
  }
  return std::nullopt;
}

void finish_seccomp_and_forks(Draft& draft) {
  Startup& startup = draft.options.startup;
  const bool follow = startup.follow_forks;
  if (startup.seccomp_bpf && !follow) {
    draft.warn("--seccomp-bpf cannot be used without -f/--follow-forks, disabling");
    startup.seccomp_bpf = false;
  }
  if (startup.seccomp_bpf && startup.detach_on_execve) {
    draft.warn("--seccomp-bpf is not enabled because it is not compatible with -b");
    startup.seccomp_bpf = false;
  }
  if (startup.seccomp_bpf && startup.syscall_limit > 0) {
    draft.warn("--seccomp-bpf is not enabled because it is not compatible with --syscall-limit");
    startup.seccomp_bpf = false;
  }
  if (startup.seccomp_bpf && !startup.attach.empty()) {
    draft.warn("--seccomp-bpf is not enabled for processes attached with -p");
  }
  if (draft.deprecated_follow) {
    draft.warn(follow ? "deprecated option -F ignored"
                      : "option -F is deprecated, please use -f/--follow-forks instead");
    startup.follow_forks = true;
  }
  // A single -f cancels --output-separately.
  draft.options.output.separate = draft.short_follow_forks > 0 ? draft.short_follow_forks > 1 : draft.output_separately;
}

/// Where functions are counted without a stop, only their entries are seen: the table has the columns that are known
/// then.
void use_columns_of_entries(Draft& draft) {
  Options& options = draft.options;
  const EngineChoice engine = options.extras.engine;
  if ((engine != EngineChoice::bpf && engine != EngineChoice::inprocess) ||
      (options.extras.libraries.empty() && options.extras.symbols.empty())) {
    return;
  }
  if (!draft.columns_given) {
    options.summary.columns = {SummaryColumn::calls, SummaryColumn::name};
  }
  if (!draft.sort_given) {
    options.summary.sort_by = SummaryColumn::calls;
  }
}

Applied finish_summary(Draft& draft) {
  const Options& options = draft.options;
  const Format& format = options.format;
  const std::string either = "(-c/--summary-only or -C/--summary)";
  if (options.summary.mode == SummaryMode::none) {
    if (options.summary.wall_clock) {
      return Failure{"-w/--summary-wall-clock must be given with " + either, true};
    }
    if (options.summary.histogram) {
      return Failure{"--summary-histogram must be given with " + either, true};
    }
    if (options.summary.exact) {
      return Failure{"--summary-exact must be given with " + either, true};
    }
    if (draft.columns_given) {
      return Failure{"-U/--summary-columns must be given with " + either, true};
    }
    if (draft.sort_given) {
      draft.warn("-S/--summary-sort-by has no effect without " + either);
    }
    return std::nullopt;
  }
  if (format.output != OutputFormat::text) {
    return Failure{fmt::format("--format={} has no form for the tables of {}", row_of(format.output).name, either),
                   true};
  }
  if (options.output.separate) {
    return Failure{either + " and -ff/--output-separately are mutually exclusive", true};
  }
  if (options.summary.mode == SummaryMode::only) {
    use_columns_of_entries(draft);
    const auto without_effect = [&](bool given, const char* what) {
      if (given) {
        draft.warn(std::string(what) + " has no effect with -c/--summary-only");
      }
    };
    without_effect(format.instruction_pointer, "-i/--instruction-pointer");
    without_effect(format.stack_trace != StackTrace::none, "-k/--stack-trace");
    without_effect(format.syscall_number, "-n/--syscall-number");
    without_effect(format.argument_names, "-N/--arg-names");
    without_effect(format.relative_timestamps.has_value(), "-r/--relative-timestamps");
    without_effect(format.timestamps != render::Clock::none, "-t/--absolute-timestamps");
    without_effect(format.syscall_times.has_value(), "-T/--syscall-times");
    without_effect(!format.fd_details.empty(), "-y/--decode-fds");
  }
  return std::nullopt;
}

/// A folded call has no line of its own.
Applied check_fold(const Options& options) {
  const Format& format = options.format;
  if (format.fold != Fold::always) {
    return std::nullopt;
  }
  const std::pair<bool, std::string_view> excluded[] = {
      {options.compat == Compat::strace, "--compat=strace (implied by that name of the program): strace does not fold"},
      {format.output != OutputFormat::text, "--format: only text is folded"},
      {options.summary.mode == SummaryMode::only, "-c/--summary-only: no lines are written"},
      {format.stack_trace != StackTrace::none, "-k/--stack-trace: each stack belongs to the line of a call"},
      {!format.dump_reads.empty() || !format.dump_writes.empty(),
       "-e read and -e write: each dump belongs to the line of a call"},
      {options.extras.explain && options.output.to == Output::To::standard_error,
       "--explain: no lines are written without -o FILE"},
  };
  for (const auto& [given, why] : excluded) {
    if (given) {
      return Failure{fmt::format("--fold cannot be used with {}", why), true};
    }
  }
  return std::nullopt;
}

/// Whether the bpf engine may be the one that traces.
bool may_use_bpf_buffer(const Extras& extras) {
  const bool live = extras.files.replay.empty() && extras.explain_trace.empty();
  return live &&
         (extras.engine == EngineChoice::bpf || (extras.engine == EngineChoice::automatic && extras.any_scope()));
}

void warn_of_options_without_effect(Draft& draft) {
  const Format& format = draft.options.format;
  const bool json = format.output == OutputFormat::json;
  const bool packets = format.output == OutputFormat::pcapng;
  const bool stacks = format.stack_trace != StackTrace::none || format.output == OutputFormat::folded;
  struct WithoutEffect {
    bool given = false;
    std::string_view option;
    std::string_view where;
  };
  const WithoutEffect options[] = {
      {draft.frame_limit_given && !stacks, "--stack-trace-frame-limit", "without -k/--stack-trace"},
      {draft.unwinder_given && !stacks, "--stack-unwinder", "without -k/--stack-trace"},
      {draft.weight_given && format.output != OutputFormat::folded, "--folded-weight", "without --format=folded"},
      {draft.bpf_buffer_given && !may_use_bpf_buffer(draft.options.extras), "--bpf-buffer",
       "without the bpf engine (--engine=bpf)"},
      {packets && format.stack_trace != StackTrace::none, "-k/--stack-trace", "with --format=pcapng"},
      {json && format.instruction_pointer, "-i/--instruction-pointer", "with --format=json"},
      {json && format.syscall_number, "-n/--syscall-number", "with --format=json"},
      {json && format.argument_names, "-N/--arg-names", "with --format=json"},
  };
  for (const WithoutEffect& one : options) {
    if (one.given) {
      draft.warn(fmt::format("{} has no effect {}", one.option, one.where));
    }
  }
}

Applied finish_output(Draft& draft) {
  Output& output = draft.options.output;
  Format& format = draft.options.format;
  Startup& startup = draft.options.startup;
  if (output.to == Output::To::standard_error) {
    if (output.separate && !startup.follow_forks) {
      draft.warn("--output-separately has no effect without -o/--output");
    }
    if (output.append) {
      draft.warn("-A/--output-append-mode has no effect without -o/--output");
    }
  }
  if (draft.status_options > 1) {
    draft.warn(
        "Only the last of -z/--successful-only/-Z/--failed-only options will take effect. See status qualifier for "
        "more complex filters.");
  }
  warn_of_options_without_effect(draft);
  if (output.separate && output.to == Output::To::command) {
    return Failure{"piping the output and -ff/--output-separately are mutually exclusive", true};
  }
  if (output.to == Output::To::standard_error) {
    output.separate = false;
  }
  const OutputFormatRow& row = row_of(format.output);
  if (format.output != OutputFormat::text && !(format.dump_reads.empty() && format.dump_writes.empty())) {
    return Failure{fmt::format("--format={} has no dumps: leave -e read and -e write out", row.name), true};
  }
  if (output.separate && (row.is_export || format.output == OutputFormat::folded)) {
    return Failure{fmt::format("--format={} and -ff/--output-separately are mutually exclusive", row.name), true};
  }
  if (row.needs_file && output.to == Output::To::standard_error) {
    return Failure{fmt::format("--format={} needs -o FILE: it is not for a terminal", row.name), true};
  }
  if (format.output == OutputFormat::sqlite && output.to == Output::To::command) {
    return Failure{"--format=sqlite needs -o FILE: a data base is not written from start to end", true};
  }
  if (row.needs_file && output.append) {
    return Failure{
        fmt::format("--format={} and -A/--output-append-mode cannot be given together: the file is one whole",
                    row.name),
        true};
  }
  startup.follow_forks = startup.follow_forks || row.is_of_processes;
  if (format.output == OutputFormat::folded) {
    if (format.stack_trace == StackTrace::none) {
      format.stack_trace = StackTrace::symbols;
    }
  }
  return std::nullopt;
}

Applied finish_quiet(Draft& draft) {
  using filter::Quiet;
  Format& format = draft.options.format;
  if (draft.short_quiet > 0 && draft.long_quiet) {
    return not_together("-q", "-e quiet/--quiet");
  }
  const Startup& startup = draft.options.startup;
  const bool to_file = draft.options.output.to != Output::To::standard_error;
  const bool has_program = !startup.program.empty() || !draft.options.extras.files.replay.empty();
  const bool implied = to_file && has_program && !draft.long_quiet;
  if (draft.short_quiet > 0 || implied) {
    format.quiet = {Quiet::attach, Quiet::personality};
  }
  if (draft.short_quiet > 1) {
    format.quiet.add(Quiet::exit);
  }
  if (draft.short_quiet > 2) {
    format.quiet.add(Quiet::path_resolution);
    format.quiet.add(Quiet::thread_execve);
  }
  return std::nullopt;
}

void finish_interruptible(Draft& draft) {
  Startup& startup = draft.options.startup;
  if (draft.interruptible_given) {
    return;
  }
  if (startup.daemonize != process::Daemonize::no) {
    startup.interruptible = process::Interruptible::never_tstp;
  } else if (draft.options.output.to != Output::To::standard_error && !startup.program.empty()) {
    startup.interruptible = process::Interruptible::never;
  }
}

}  // namespace

Applied finish(Draft& draft, uid_t user) {
  if (auto failure = check_targets(draft.options)) {
    return failure;
  }
  if (auto failure = finish_daemonize(draft)) {
    return failure;
  }
  if (auto failure = finish_argv0(draft)) {
    return failure;
  }
  if (auto failure = finish_synonyms(draft)) {
    return failure;
  }
  if (draft.options.startup.kill_on_exit && !draft.options.startup.attach.empty()) {
    return Failure{"--kill-on-exit and -p/--attach are mutually exclusive options"};
  }
  if (auto failure = check_survival(draft.options)) {
    return failure;
  }
  if (auto failure = finish_explain(draft)) {
    return failure;
  }
  if (auto failure = finish_trace_files(draft.options)) {
    return failure;
  }
  finish_seccomp_and_forks(draft);
  if (auto failure = finish_summary(draft)) {
    return failure;
  }
  if (draft.options.startup.user && user != 0) {
    return Failure{"You must be root to use the -u/--username option"};
  }
  if (auto failure = check_fold(draft.options)) {
    return failure;
  }
  if (auto failure = finish_output(draft)) {
    return failure;
  }
  if (auto failure = finish_quiet(draft)) {
    return failure;
  }
  finish_interruptible(draft);
  const Startup& startup = draft.options.startup;
  if (startup.seccomp_bpf && !startup.program.empty() && draft.options.filters.trace.full()) {
    draft.warn("Seccomp filter is requested but there are no syscalls to filter.  See -e trace to filter syscalls.");
  }
  return std::nullopt;
}

}  // namespace tracer::cli
