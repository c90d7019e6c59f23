#include "cli/parser.h"

#include <utility>

#include "base/require.h"
#include "cli/arguments.h"
#include "cli/draft.h"
#include "cli/help.h"
#include "cli/values.h"

namespace tracer::cli {
namespace {

constexpr std::uint32_t max_string_limit = 0x3fffffff;

Applied set_flag(bool& flag) {
  flag = true;
  return std::nullopt;
}

Applied add_group(Options& options, proc::cgroups::TargetKind kind, const GivenOption& given) {
  options.extras.groups.push_back({kind, given.argument.value_or("")});
  return options.extras.groups.back().name.empty() ? bad_argument(given) : Applied{};
}

bool ends_with_digit(const std::string& text) {
  return !text.empty() && text.back() >= '0' && text.back() <= '9';
}

Applied only_status(Draft& draft, filter::CallStatus status, bool& given) {
  draft.options.filters.end.status = {status};
  ++draft.status_options;
  return set_flag(given);
}

Applied qualifier(Draft& draft, const GivenOption& given, const std::string& otherwise) {
  return with_remedy(apply_qualifier(draft, given.row->id, given.argument.value_or(otherwise)), *given.row);
}

Applied apply(Draft& draft, const GivenOption& given) {
  Options& options = draft.options;
  Startup& startup = options.startup;
  Format& format = options.format;
  const std::string argument = given.argument.value_or("");
  switch (given.row->id) {
    case OptionId::expression:
      return apply_expression(draft, argument);

    case OptionId::env:
      startup.environment.push_back(argument);
      return std::nullopt;
    case OptionId::attach:
      return attach(draft, argument);
    case OptionId::user:
      startup.user = read_user(argument);
      return std::nullopt;
    case OptionId::argv0:
      startup.argv0 = argument;
      return std::nullopt;

    case OptionId::detach_on:
      startup.detach_on_execve = true;
      return argument == "execve" ? Applied{} : Failure{"Syscall '" + argument + "' for -b isn't supported"};
    case OptionId::daemonize:
      return daemonize(draft, given);
    case OptionId::follow_forks:
      startup.follow_forks = true;
      draft.short_follow_forks += given.is_long ? 0 : 1;
      draft.long_follow_forks = draft.long_follow_forks || given.is_long;
      return std::nullopt;
    case OptionId::output_separately:
      return set_flag(draft.output_separately);
    case OptionId::deprecated_follow:
      return set_flag(draft.deprecated_follow);
    case OptionId::interruptible:
      return interruptible(draft, given);
    case OptionId::syscall_limit:
      return store(given, read_number(argument, 1, max_int), startup.syscall_limit);
    case OptionId::kill_on_exit:
      return set_flag(startup.kill_on_exit);
    case OptionId::survive:
      return set_flag(startup.survive);

    case OptionId::trace_path:
      options.filters.paths.push_back(argument);
      return std::nullopt;
    case OptionId::successful_only:
      return only_status(draft, filter::CallStatus::successful, draft.successful_only);
    case OptionId::failed_only:
      return only_status(draft, filter::CallStatus::failed, draft.failed_only);

    case OptionId::columns:
      return store(given, read_number(argument, 0, max_int), format.column);
    case OptionId::indent: {
      constexpr std::uint32_t most_indent = 20;
      return store(given, read_number(argument, 0, most_indent), format.indent);
    }
    case OptionId::quiet:
      if (!given.is_long) {
        ++draft.short_quiet;
        return std::nullopt;
      }
      return qualifier(draft, given, "attach,personality");
    case OptionId::decode_fds:
      return qualifier(draft, given, "path");
    case OptionId::decode_fds_short:
      ++draft.short_decode_fds;
      return std::nullopt;
    case OptionId::decode_pids_comm:
      format.pid_details = {PidDetail::comm};  // The last of these options takes effect.
      return std::nullopt;
    case OptionId::pidns_translation:
      format.pid_details = {PidDetail::pidns};
      return std::nullopt;
    case OptionId::namespace_:
      return qualifier(draft, given, "new");
    case OptionId::secontext:
      return qualifier(draft, given, "!full,mismatch");
    case OptionId::instruction_pointer:
      return set_flag(format.instruction_pointer);
    case OptionId::syscall_number:
      return set_flag(format.syscall_number);
    case OptionId::arg_names:
      return set_flag(format.argument_names);
    case OptionId::stack_trace:
      return stack_trace(draft, given);
    case OptionId::stack_trace_frame_limit:
      draft.frame_limit_given = true;
      return store(given, read_number(argument, 1, max_string_limit), format.stack_frame_limit);
    case OptionId::output:
      return output(draft, argument);
    case OptionId::output_append_mode:
      return set_flag(options.output.append);
    case OptionId::color:
      return color(draft, given);
    case OptionId::relative_timestamps:
      return precision_option(given, microseconds, format.relative_timestamps);
    case OptionId::string_limit:
      return store(given, read_number(argument, 0, max_string_limit), format.string_limit);
    case OptionId::timestamps_short:
      ++draft.short_timestamps;
      return std::nullopt;
    case OptionId::timestamps:
      return timestamps(draft, given);
    case OptionId::syscall_times:
      return precision_option(given, microseconds, format.syscall_times);
    case OptionId::no_abbrev:
      format.abbrev = filter::SyscallSet{};
      return std::nullopt;
    case OptionId::strings_in_hex:
      return strings_in_hex(draft, given);
    case OptionId::strings_in_hex_short:
      ++draft.short_strings_in_hex;
      return std::nullopt;
    case OptionId::const_print_style:
      return const_style(draft, given);
    case OptionId::always_show_pid:
      return set_flag(format.always_show_pid);

    case OptionId::summary_only:
      return summary_mode(draft, SummaryMode::only);
    case OptionId::summary:
      return summary_mode(draft, SummaryMode::with_trace);
    case OptionId::summary_syscall_overhead:
      options.summary.overhead = read_duration(argument);
      return options.summary.overhead ? Applied{} : bad_argument(given);
    case OptionId::summary_sort_by:
      return sort_by(draft, argument);
    case OptionId::summary_columns:
      return summary_columns(draft, argument);
    case OptionId::summary_wall_clock:
      return set_flag(options.summary.wall_clock);
    case OptionId::summary_histogram:
      return set_flag(options.summary.histogram);
    case OptionId::summary_exact:
      return set_flag(options.summary.exact);

    case OptionId::stack_unwinder:
      draft.unwinder_given = true;
      return stack_unwinder(draft, given);
    case OptionId::compat:
      return compat(draft, given);
    case OptionId::fold:
    case OptionId::no_fold:
      options.format.fold = given.row->id == OptionId::fold ? Fold::always : Fold::never;
      return std::nullopt;
    case OptionId::folded_weight:
      draft.weight_given = true;
      return folded_weight(draft, given);
    case OptionId::engine:
      return engine(draft, given);
    case OptionId::bpf_buffer:
      draft.bpf_buffer_given = true;
      return bpf_buffer(draft, given);
    case OptionId::output_format:
      return output_format(draft, given);
    case OptionId::define:
      options.extras.define.push_back(argument);
      return std::nullopt;
    case OptionId::errno_:
      return errno_filter(draft, given);
    case OptionId::min_duration:
      options.filters.end.min_duration = read_duration(argument);
      return options.filters.end.min_duration ? Applied{} : bad_argument(given);
    case OptionId::system_wide:
      return set_flag(options.extras.system_wide);
    case OptionId::cgroup:
      return add_group(options, proc::cgroups::TargetKind::path, given);
    case OptionId::unit:
      return add_group(options, proc::cgroups::TargetKind::unit, given);
    case OptionId::container:
      return add_group(options, proc::cgroups::TargetKind::container, given);
    case OptionId::comm:
      options.extras.comms.push_back(argument);
      return argument.empty() ? bad_argument(given) : Applied{};
    case OptionId::list_probes:
      options.extras.list_probes = argument;
      return argument.empty() ? bad_argument(given) : Applied{};
    case OptionId::io_uring:
      return set_flag(options.extras.rings);
    case OptionId::doctor:
      return set_flag(options.extras.doctor);
    case OptionId::explain:
      if (argument == "verbose") {
        options.extras.explain_verbose = true;
      } else {
        options.extras.explain_trace = argument;
      }
      return set_flag(options.extras.explain);
    case OptionId::explain_after:
      options.extras.explain = true;
      options.extras.explain_after = read_duration(ends_with_digit(argument) ? argument + 's' : argument);
      return options.extras.explain_after ? Applied{} : bad_argument(given);

    case OptionId::record:
      options.extras.files.record = argument;
      return argument.empty() ? bad_argument(given) : Applied{};
    case OptionId::record_last:
      return record_last(draft, given);
    case OptionId::record_when:
      return record_when(draft, given);
    case OptionId::replay:
      options.extras.files.replay = argument;
      return argument.empty() ? bad_argument(given) : Applied{};
    case OptionId::view:
      return set_flag(options.extras.view);
    case OptionId::info:
      return set_flag(options.extras.files.information);
    case OptionId::from:
      options.extras.files.from = read_replay_time(argument);
      return options.extras.files.from ? Applied{} : bad_argument(given);
    case OptionId::to:
      options.extras.files.to = read_replay_time(argument);
      return options.extras.files.to ? Applied{} : bad_argument(given);

    case OptionId::debug:
      return set_flag(startup.debug);
    case OptionId::seccomp_bpf:
      return set_flag(startup.seccomp_bpf);
    case OptionId::tips:
      return tips(draft, given);
    case OptionId::version:
      ++draft.versions;
      return std::nullopt;
    default:
      return qualifier(draft, given, "");
  }
}

UsageError usage_error(const Options& options, const Failure& failure) {
  UsageError error;
  for (const std::string& warning : options.warnings) {
    error.text += warning;
  }
  error.text += options.program_name + ": " + failure.message + (options.strict ? "" : failure.remedy) + "\n";
  if (failure.hint) {
    error.text += "Try '" + options.program_name + " -h' for more information.\n";
  }
  return error;
}

}  // namespace

FilesAhead files_ahead(const std::vector<std::string>& words) {
  FilesAhead files;
  OptionReader reader(words.empty() ? std::span<const std::string>{} : std::span(words).subspan(1));
  for (auto next = reader.next(); !std::holds_alternative<std::monostate>(next); next = reader.next()) {
    const auto* given = std::get_if<GivenOption>(&next);
    if (given == nullptr) {
      continue;
    }
    std::string argument = given->argument.value_or("");
    if (given->row->id == OptionId::define) {
      files.defined.push_back(std::move(argument));
    } else if (given->row->id == OptionId::replay) {
      files.replayed = std::move(argument);
    } else if (given->row->id == OptionId::explain) {
      files.explained = std::move(argument);
    }
  }
  return files;
}

Outcome parse_command_line(const std::vector<std::string>& words, const spec::Tables& tables,
                           const Environment& environment) {
  Options initial;
  initial.program_name = words.empty() || words.front().empty() ? "strace" : words.front();
  const auto slash = initial.program_name.rfind('/');
  initial.strict = std::string_view(initial.program_name).substr(slash + 1) == "strace";
  initial.compat = initial.strict ? Compat::strace : Compat::none;
  Draft draft{std::move(initial), {tables, environment.abis, false}};
  draft.names.suggest_near_miss = !draft.options.strict;
  if (words.size() <= 1 && !draft.options.strict) {
    return UsageError{first_steps(draft.options.program_name)};
  }

  OptionReader reader(std::span<const std::string>(words).subspan(words.empty() ? 0 : 1));
  while (true) {
    const auto next = reader.next();
    if (const auto* bad = std::get_if<BadWord>(&next)) {
      return usage_error(draft.options, {bad->message, true, bad->suggestion});
    }
    const auto* given = std::get_if<GivenOption>(&next);
    if (given == nullptr) {
      break;
    }
    if (given->row->id == OptionId::help) {
      return Information{help_text(draft.options.program_name)};
    }
    if (const auto failure = apply(draft, *given)) {
      return usage_error(draft.options, *failure);
    }
  }
  if (draft.versions > 0) {
    return Information{version_text(draft.versions, draft.options.strict)};
  }
  draft.options.startup.program.assign(reader.rest().begin(), reader.rest().end());
  if (const auto failure = finish(draft, environment.user)) {
    return usage_error(draft.options, *failure);
  }
  return std::move(draft.options);
}

}  // namespace tracer::cli
