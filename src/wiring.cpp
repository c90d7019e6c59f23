#include "wiring.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "selinux.h"
#include "stack/symbols.h"
#include "terminal.h"

namespace tracer {

namespace {

unsigned digits_of(cli::Precision precision) {
  return static_cast<unsigned>(precision) * 3;  // s, ms, us, ns
}

bool only_counts(const cli::Options& options) {
  return options.summary.mode == cli::SummaryMode::only;
}

/// More than one thread may turn up, so that every line of a file has to say whose it is.
bool several_from_the_start(const cli::Options& options) {
  return options.startup.follow_forks || options.startup.attach.size() + (options.startup.program.empty() ? 0 : 1) > 1;
}

pipeline::ShowPid show_pid(const cli::Options& options) {
  const bool to_terminal = options.output.to == cli::Output::To::standard_error;
  if (options.output.separate && !to_terminal) {
    return options.format.always_show_pid ? pipeline::ShowPid::column : pipeline::ShowPid::never;
  }
  const bool always = options.format.always_show_pid;
  if (to_terminal) {
    return always ? pipeline::ShowPid::bracketed : pipeline::ShowPid::when_several;
  }
  return always || several_from_the_start(options) ? pipeline::ShowPid::column : pipeline::ShowPid::when_several;
}

bool wants_color(const cli::Options& options) {
  const cli::Output& output = options.output;
  switch (options.format.color) {
    case cli::Color::always:
      return true;
    case cli::Color::never:
      return false;
    case cli::Color::automatic:
      break;
  }
  if (std::getenv("NO_COLOR") != nullptr || output.to == cli::Output::To::command) {
    return false;
  }
  return output.to == cli::Output::To::standard_error ? is_color_terminal(STDERR_FILENO)
                                                      : !output.separate && is_color_terminal(output.target);
}

render::Palette palette(const pipeline::Note& note) {
  render::Palette palette = render::Palette::usual();
  const char* changes = std::getenv("STRACE_COLORS");
  for (const std::string& wrong : palette.change(changes != nullptr ? changes : "")) {
    note("STRACE_COLORS: '" + wrong +
         "' is not of the form KEY=NUMBER;NUMBER… with a key that is known; it is left out");
  }
  return palette;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// What an engine has to report. Numbers without a description are always shown. With `stacks`, calls that change what
/// is in memory are wanted as well.
WantedCalls wanted_calls(const filter::SyscallSet& shown, bool stacks, const spec::Tables& tables) {
  WantedCalls wanted = shown.bits();
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    for (std::size_t number = 0; number < max_filtered_number; ++number) {
      const spec::Call* call = wanted[i].test(number) ? nullptr : tables.find(abi, number);
      if (call == nullptr || (stacks && stack::must_see(abi, tables.text(call->name)))) {
        wanted[i].set(number);
      }
    }
  }
  return wanted;
}

/// See EngineOptions::no_filter_because.
std::string why_no_filter(const cli::Options& options) {
  if (!options.extras.libraries.empty() || !options.extras.symbols.empty() || !options.extras.probes.empty() ||
      options.ltrace) {
    return "functions are traced, whose breakpoints a process cannot keep when it is let go";
  }
  const cli::Startup& startup = options.startup;
  if (startup.detach_on_execve) {
    return "-b lets processes go early";
  }
  if (startup.syscall_limit != 0) {
    return "--syscall-limit lets processes go early";
  }
  if (startup.interruptible == cli::Interruptible::anywhere) {
    return "-I1 lets signals end the tracer at once";
  }
  if (!startup.follow_forks && !startup.seccomp_bpf && ::geteuid() != 0) {
    // Children inherit a filter, which nothing can take off, and need a tracer from then on. Without root they lose
    // what set-user-ID files give (no_new_privs): sudo in a script would fail. With -f they are traced in any case;
    // with root all that they notice is that they have a tracer (a debugger inside gets EPERM), and a program that
    // makes many other calls runs at its own speed instead of a fortieth of it.
    return "children that are not followed (-f) would have it; --seccomp-bpf enables it all the same";
  }
  if (options.format.syscall_number && !startup.seccomp_bpf) {
    return "-n shows in front of signals and ends which call was the last, wanted or not";
  }
  for (const cli::Injection& injection : options.injections) {
    if (injection.signal) {
      return "a signal is injected, which does not arrive if it is sent at a filter's stop";
    }
  }
  return {};
}

Status select_functions(const cli::Options& options, library::LibrarySelection& selection) {
  if (!options.ltrace) {  // whose filters are about names as they are
    selection.demangler = [](std::string_view name) { return stack::demangle(name); };
    selection.calls.use_demangler(selection.demangler);
    selection.entries.use_demangler(selection.demangler);
  }
  for (const std::string& expression : options.extras.libraries) {
    if (const Status added = selection.calls.add(expression); !added) {
      return Error{EINVAL, "-e library=" + expression + ": " + added.error().message};
    }
  }
  for (const std::string& expression : options.extras.symbols) {
    if (const Status added = selection.entries.add(expression); !added) {
      return Error{EINVAL, "-e symbol=" + expression + ": " + added.error().message};
    }
  }
  for (const std::string& expression : options.extras.probes) {
    selection.probes.emplace_back(expression);
  }
  if (!selection.empty() && !can_break_at_functions(native_abi())) {
    return Error{ENOTSUP, "this build cannot trace functions, for want of Zydis: use one that is linked dynamically"};
  }
  if (options.ltrace) {
    for (const std::string& pattern : options.ltrace->exporters) {
      if (const Status added = selection.exports.add('@' + pattern); !added) {
        return Error{EINVAL, "-l " + pattern + ": " + added.error().message};
      }
    }
  }
  return Done{};
}

std::vector<Poke> pokes_of(const std::vector<cli::Poke>& pokes) {
  std::vector<Poke> result;
  result.reserve(pokes.size());
  for (const cli::Poke& poke : pokes) {
    result.push_back({poke.argument - 1, poke.data});
  }
  return result;
}

pipeline::TamperRule tamper_rule(const cli::Injection& injection, const spec::Tables& tables) {
  pipeline::TamperRule rule;
  rule.calls = injection.calls;
  rule.first = injection.first;
  rule.step = injection.step;
  if (injection.last != cli::Injection::no_end) {
    rule.last = injection.last;
  }
  Tampering& what = rule.what;
  if (injection.error) {
    what.result = Tampering::Result{static_cast<std::uint64_t>(*injection.error), true};
  } else if (injection.retval) {
    what.result = Tampering::Result{*injection.retval, false};
  }
  what.signal = injection.signal.value_or(0);
  what.delay_enter = injection.delay_enter;
  what.delay_exit = injection.delay_exit;
  what.poke_enter = pokes_of(injection.poke_enter);
  what.poke_exit = pokes_of(injection.poke_exit);
  for (std::size_t abi = 0; abi < abi_count && !injection.syscall.empty(); ++abi) {
    for (const spec::NumberedCall& row : tables.numbers[abi]) {
      if (row.call != spec::none && tables.text(tables.calls[row.call].name) == injection.syscall) {
        what.instead[abi] = row.number;
      }
    }
  }
  return rule;
}

}  // namespace

decode::Options decoder_options(const cli::Options& options) {
  decode::Options result;
  result.string_limit = options.format.string_limit;
  if (options.ltrace) {
    result.most_nested = options.ltrace->most_elements;
  }
  result.whole_vcpu = options.format.kvm == cli::Kvm::vcpu_all;
  return result;
}

decode::NameOptions name_options(const cli::Options& options) {
  using cli::FdDetail;
  const auto& fds = options.format.fd_details;
  decode::NameOptions result;
  result.paths = fds.has(FdDetail::path);
  result.sockets = fds.has(FdDetail::socket);
  result.devices = fds.has(FdDetail::dev);
  result.pidfds = fds.has(FdDetail::pidfd);
  result.eventfds = fds.has(FdDetail::eventfd);
  result.signalfds = fds.has(FdDetail::signalfd);
  result.commands = options.format.pid_details.has(cli::PidDetail::comm);
  result.pids_here = options.format.pid_details.has(cli::PidDetail::pidns);
  result.vcpus = options.format.kvm != cli::Kvm::none;
  result.namespaces = options.format.namespaces;
  return result;
}

Result<decode::SecurityContexts> security_contexts(const cli::Options& options) {
  const cli::SecurityContext& wanted = options.format.secontext;
  std::unique_ptr<decode::ContextSource> source;
  if (wanted.shown) {
    auto opened = open_selinux();
    if (!opened) {
      return opened.error();
    }
    source = std::move(opened).value();
  }
  return decode::SecurityContexts({wanted.full, wanted.mismatch}, std::move(source));
}

filter::PathSet traced_paths(const cli::Options& options, const pipeline::Note& note) {
  filter::PathSet paths;
  for (const std::string& path : options.filters.paths) {
    const std::string resolved = paths.add(path);
    if (!resolved.empty() && !options.format.quiet.has(cli::Quiet::path_resolution)) {
      note(resolved);
    }
  }
  return paths;
}

pipeline::PipelineOptions pipeline_options(const cli::Options& options, const spec::Tables& tables) {
  using cli::Quiet;
  pipeline::PipelineOptions result;
  result.filter.calls = options.filters.trace;
  result.filter.signals = options.filters.signals;
  result.filter.status = options.filters.status;
  result.filter.trace_fds = options.filters.trace_fds;
  result.filter.errnos = options.filters.errnos;
  result.filter.min_duration = options.filters.min_duration;
  result.abbreviate = options.format.abbrev;
  result.dereference = options.format.verbose;
  result.raw = options.format.raw;
  result.quiet.attach = options.format.quiet.has(Quiet::attach);
  result.quiet.exit = options.format.quiet.has(Quiet::exit);
  result.quiet.personality = options.format.quiet.has(Quiet::personality);
  result.quiet.thread_execve = options.format.quiet.has(Quiet::thread_execve);
  result.native = native_abi();
  result.summary_only = only_counts(options);
  result.bare_function_names = options.ltrace.has_value();
  result.hide_launch = options.ltrace.has_value();
  result.detach_on_execve = options.startup.detach_on_execve;
  result.launched = !options.startup.program.empty();
  result.syscall_limit = options.startup.syscall_limit;
  for (const cli::Injection& injection : options.injections) {
    result.tampering.push_back(tamper_rule(injection, tables));
  }
  return result;
}

pipeline::TextViewOptions text_view_options(const cli::Options& options, const pipeline::Note& note) {
  const cli::Format& format = options.format;
  pipeline::TextViewOptions result;
  switch (format.timestamps) {
    case cli::TimestampFormat::none:
      break;
    case cli::TimestampFormat::time_of_day:
      result.prefix.clock = render::Clock::time_of_day;
      break;
    case cli::TimestampFormat::unix_time:
      result.prefix.clock = render::Clock::unix_time;
      break;
  }
  result.prefix.clock_digits = digits_of(format.timestamp_precision);
  if (format.relative_timestamps) {
    result.prefix.since_digits = digits_of(*format.relative_timestamps);
    result.prefix.since_width = options.ltrace ? 3 : result.prefix.since_width;
  }
  result.prefix.syscall_number = format.syscall_number;
  result.prefix.instruction_pointer = format.instruction_pointer;
  if (format.syscall_times) {
    result.duration_digits = digits_of(*format.syscall_times);
  }
  switch (format.strings_in_hex) {
    case cli::StringsInHex::never:
      result.calls.hex = render::HexStrings::none;
      break;
    case cli::StringsInHex::non_ascii_chars:
      result.calls.hex = render::HexStrings::characters;
      break;
    case cli::StringsInHex::non_ascii:
      result.calls.hex = render::HexStrings::non_ascii;
      break;
    case cli::StringsInHex::all:
      result.calls.hex = render::HexStrings::all;
      break;
  }
  switch (format.const_style) {
    case cli::ConstStyle::raw:
      result.calls.constants = spell::ConstantForm::raw;
      break;
    case cli::ConstStyle::abbrev:
      result.calls.constants = spell::ConstantForm::abbreviate;
      break;
    case cli::ConstStyle::verbose:
      result.calls.constants = spell::ConstantForm::verbose;
      break;
  }
  result.calls.argument_names = format.argument_names;
  result.calls.column = format.column;
  if (wants_color(options)) {
    result.calls.palette = palette(note);
  }
  result.indent = format.indent;
  result.string_limit = format.string_limit;
  result.native = native_abi();
  result.show_pid = show_pid(options);
  result.program_to_come = !options.startup.program.empty() && !options.startup.attach.empty();
  result.show_context = options.format.secontext.shown;
  result.show_command = format.pid_details.has(cli::PidDetail::comm);
  result.dump_reads = format.dump_reads;
  result.dump_writes = format.dump_writes;
  result.flush_each_event = options.output.to == cli::Output::To::standard_error;
  return result;
}

pipeline::LtraceViewOptions ltrace_view_options(const cli::Options& options) {
  using ShowPid = pipeline::LtraceViewOptions::ShowPid;
  const cli::Ltrace& ltrace = *options.ltrace;
  pipeline::LtraceViewOptions result;
  const bool to_file = options.output.to == cli::Output::To::file;
  if (to_file && (options.startup.follow_forks || !options.startup.attach.empty())) {
    result.show_pid = ShowPid::plain;
  } else if (options.startup.follow_forks) {
    result.show_pid = ShowPid::bracketed;
  }
  result.show_callers = ltrace.show_callers;
  result.show_signals = ltrace.show_signals;
  result.launched = !options.startup.program.empty();
  result.most_elements = ltrace.most_elements;
  if (ltrace.demangle) {
    result.demangle = [](std::string_view name) { return stack::demangle(name); };
  }
  return result;
}

pipeline::FoldedWeight folded_weight(const cli::Options& options) {
  switch (options.format.folded_weight) {
    case cli::FoldedWeight::time:
      return pipeline::FoldedWeight::time;
    case cli::FoldedWeight::bytes:
      return pipeline::FoldedWeight::bytes;
    case cli::FoldedWeight::calls:
      break;
  }
  return pipeline::FoldedWeight::calls;
}

stack::Options stack_options(const cli::Options& options) {
  stack::Options result;
  result.frame_limit = options.format.stack_frame_limit;
  if (options.format.stack_unwinder == cli::StackUnwinder::libunwind) {
    result.unwinder = stack::UnwinderChoice::libunwind;
  }
  result.sources = options.format.stack_trace == cli::StackTrace::sources;
  result.follows_children = options.startup.follow_forks;
  return result;
}

render::SummaryOptions summary_options(const cli::Options& options) {
  render::SummaryOptions result;
  result.wall_clock = options.summary.wall_clock;
  result.ltrace = options.ltrace.has_value();
  result.histogram = options.summary.histogram;
  result.sort_by = options.summary.sort_by;
  result.columns = options.summary.columns;
  result.overhead = options.summary.overhead;
  return result;
}

Result<pipeline::Channels> open_channels(const cli::Options& options, const sink::Complain& complain) {
  const cli::Output& output = options.output;
  if (output.to == cli::Output::To::file && output.separate) {
    // The files come later; a folder that cannot be written to is told before anything runs.
    const std::string folder = folder_of(output.target);
    if (::access((folder + "/.").c_str(), W_OK | X_OK) != 0) {
      const int number = errno;
      return Error{number, "Can't fopen '" + output.target + ".PID': " + std::strerror(number)};
    }
    return pipeline::Channels([&output, complain](pid_t tid) {
      return sink::open_file_or_drop(output.target + '.' + std::to_string(tid), output.append, complain);
    });
  }
  Result<std::unique_ptr<sink::Sink>> opened = sink::open_standard_error(complain);
  if (output.to == cli::Output::To::file) {
    opened = sink::open_file(output.target, output.append, complain);
  } else if (output.to == cli::Output::To::command) {
    opened = sink::open_command(output.target, output.given, complain);
  }
  if (!opened) {
    return opened.error();
  }
  return pipeline::Channels(std::move(opened).value());
}

Result<std::string> command_path(const cli::Options& options) {
  const std::string& name = options.startup.program.front();
  auto path = find_program(name);
  if (path) {
    return path;
  }
  Error error = path.error();
  if (!options.strict && error.number == ENOENT && name.find('/') == std::string::npos) {
    const bool here = ::access(name.c_str(), F_OK) == 0;
    error.message += here ? ": it is not in PATH, but in this folder: ./" + name : ": it is not in PATH";
  }
  return error;
}

Result<EngineOptions> engine_options(const cli::Options& options, const spec::Tables& tables) {
  const cli::Startup& startup = options.startup;
  EngineOptions result;
  LaunchOptions launch;
  if (startup.user) {
    const cli::RunAs& user = *startup.user;
    if (user.user) {
      launch.identity = Identity{*user.user, user.group.value_or(0), {}};
    } else {
      auto identity = find_identity(user.name);
      if (!identity) {
        return identity.error();
      }
      launch.identity = std::move(identity).value();
    }
  }
  if (!startup.program.empty()) {
    launch.args = startup.program;
    if (startup.argv0) {
      launch.args.front() = *startup.argv0;
    }
    for (const cli::EnvironmentChange& change : startup.environment) {
      launch.environment.push_back({change.name, change.value});
    }
    launch.daemonize = static_cast<Daemonize>(startup.daemonize);
    launch.message_prefix = options.program_name + ": ";
    result.launch = std::move(launch);
  }
  for (const pid_t pid : startup.attach) {
    if (pid == ::getpid()) {
      return Error{EPERM, options.strict ? "I'm sorry, I can't let you do that, Dave."
                                         : "attach: process " + std::to_string(pid) +
                                               " is this tracer, which cannot trace itself"};
    }
  }
  result.attach = startup.attach;
  result.follow_forks = startup.follow_forks;
  result.kill_on_exit = startup.kill_on_exit;
  result.strict = options.strict;
  result.as_ltrace = options.ltrace.has_value();
  result.cpu_time = options.summary.mode != cli::SummaryMode::none && !options.summary.wall_clock;
  result.interruptible = static_cast<Interruptible>(static_cast<int>(startup.interruptible) -
                                                    static_cast<int>(cli::Interruptible::anywhere));
  result.latencies = summary_options(options).wants_latencies();
  result.times = !only_counts(options) || summary_options(options).wants_times();
  result.functions_one_by_one = !only_counts(options) || summary_options(options).wants_ends();
  result.scope = {options.extras.system_wide, options.extras.cgroups, options.extras.comms};
  if (!options.filters.trace.full()) {
    const bool stacks = options.format.stack_trace != cli::StackTrace::none && !only_counts(options);
    result.wanted = wanted_calls(options.filters.trace, stacks, tables);
  }
  result.no_filter_because = why_no_filter(options);
  if (const Status selected = select_functions(options, result.functions); !selected) {
    return selected.error();
  }
  if (!result.functions.empty() && result.interruptible == Interruptible::anywhere) {
    result.interruptible = Interruptible::waiting;  // there are breakpoints to be taken away first
  }
  filter::SyscallSet only_unknown;
  only_unknown.add_unknown(tables);
  result.only_functions = options.filters.trace.empty() || options.filters.trace == only_unknown;
  return result;
}

}  // namespace tracer
