// The options of the engines and of the tracing of functions.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "app/wiring.h"
#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "stack/symbols.h"

namespace tracer::app {

namespace {

/// Returns the calls that the engine has to report. Numbers without a description are always shown. With `stacks`,
/// calls that change mappings are wanted as well.
trace::WantedCalls wanted_calls(const filter::SyscallSet& shown, bool stacks, const spec::Tables& tables) {
  trace::WantedCalls wanted = shown.kernel_numbers(tables);
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    for (std::size_t number = 0; number < trace::max_filtered_number; ++number) {
      const spec::Call* call = wanted[i].test(number) ? nullptr : tables.find(abi, number);
      if (call == nullptr || (stacks && stack::must_see(abi, tables.text(call->name)))) {
        wanted[i].set(number);
      }
    }
  }
  return wanted;
}

/// Of fcntl(2), an explanation needs locks, copies of descriptors that programs write to, and sizes of pipes. Whoever
/// walks a directory tree makes many other calls of it.
trace::WantedCommands commands_to_explain(const spec::Tables& tables) {
  constexpr std::uint32_t set_lock_64 = 13;  // F_SETLK64 and F_SETLKW64 of 32-bit programs
  constexpr std::uint32_t set_lock_and_wait_64 = 14;
  trace::WantedCommands wanted;
  wanted.commands = {F_DUPFD,     F_SETLK,      F_SETLKW,    set_lock_64, set_lock_and_wait_64,
                     F_OFD_SETLK, F_OFD_SETLKW, F_SETPIPE_SZ};
  for (std::size_t i = 0; i < abi_count; ++i) {
    for (std::size_t number = 0; number < trace::max_filtered_number; ++number) {
      const spec::Call* call = tables.find(static_cast<Abi>(i), number);
      const std::string_view name = call == nullptr ? std::string_view() : tables.text(call->name);
      wanted.calls[i][number] = name == "fcntl" || name == "fcntl64";
    }
  }
  return wanted;
}

/// Returns EngineOptions::no_filter_because.
std::string why_no_filter(const cli::Options& options) {
  // A program that has a recorder cannot be detached from in any case.
  const bool has_recorder = options.extras.engine == cli::EngineChoice::inprocess;
  if (!has_recorder && (!options.extras.libraries.empty() || !options.extras.symbols.empty() ||
                        !options.extras.probes.empty() || options.ltrace)) {
    return "functions are traced, and their breakpoints have to be removed before detaching";
  }
  const cli::Startup& startup = options.startup;
  if (startup.survive) {
    return "--survive asks for no filter, which would outlive the tracer";
  }
  if (startup.detach_on_execve) {
    return "-b detaches from processes early";
  }
  if (startup.syscall_limit != 0) {
    return "--syscall-limit detaches from processes early";
  }
  if (startup.interruptible == process::Interruptible::anywhere) {
    return "-I1 lets signals end the tracer at once";
  }
  if (!startup.follow_forks) {
    // Children inherit the filter, which cannot be removed, and need a tracer from then on. With -f they have one in
    // any case; without, a debugger in the program would fail, and sudo, too, where the tracer is not root.
    return "children that are not followed would inherit the filter, and need a tracer from then on (add -f)";
  }
  if (options.format.syscall_number && !startup.seccomp_bpf) {
    return "-n shows the number of the last call before signals and exits, whether it is traced or not";
  }
  for (const cli::Injection& injection : options.injections) {
    if (injection.signal) {
      return "a signal is injected, which is lost if it is sent at a seccomp stop";
    }
  }
  return {};
}

Status select_functions(const cli::Options& options, functions::library::LibrarySelection& selection) {
  if (!options.ltrace) {  // the filters of ltrace match mangled names
    selection.demangler = [](std::string_view name) { return stack::demangle(name); };
    selection.calls.use_demangler(selection.demangler);
    selection.entries.use_demangler(selection.demangler);
  }
  for (const std::string& expression : options.extras.libraries) {
    if (const Status added = selection.calls.add(expression); !added) {
      return Error{EINVAL, (options.ltrace ? "-e " : "-e library=") + expression + ": " + added.error().message};
    }
  }
  for (const std::string& expression : options.extras.symbols) {
    if (const Status added = selection.entries.add(expression); !added) {
      return Error{EINVAL, (options.ltrace ? "-x " : "-e symbol=") + expression + ": " + added.error().message};
    }
  }
  for (const std::string& expression : options.extras.probes) {
    selection.probes.emplace_back(expression);
  }
  if (!selection.empty()) {
    if (const Status can = arch::can_break_at_functions(arch::native_abi()); !can) {
      return Error{can.error().number, fmt::format("functions cannot be traced: {}", can.error().message)};
    }
  }
  if (options.ltrace) {
    selection.as_ltrace = true;
    for (const std::string& pattern : options.ltrace->exporters) {
      if (const Status added = selection.exports.add_module(pattern); !added) {
        return Error{EINVAL, "-l " + pattern + ": " + added.error().message};
      }
    }
  }
  return Done{};
}

Error cannot_open(const std::string& name, int number) {
  return Error{number, fmt::format("Can't open {}: {}", name, std::strerror(number))};
}

/// Refuses in ltrace's words what cannot be started: neither a program nor a script.
Result<std::string> as_ltrace(std::string path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    return errno == EACCES ? Result(std::move(path)) : cannot_open(path, errno);  // some may be executed, not read
  }
  std::array<char, 4> start{};
  const ssize_t size = ::read(file.get(), start.data(), start.size());
  const std::string_view text(start.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (text != "\177ELF" && !text.starts_with("#!")) {
    return Error{ENOEXEC, fmt::format("\"{}\" is not an ELF file", path)};
  }
  return path;
}

}  // namespace

Result<std::string> command_path(const cli::Options& options) {
  const std::string& name = options.startup.program.front();
  auto path = process::find_program(name);
  if (options.ltrace) {
    return path ? as_ltrace(std::move(path).value()) : cannot_open(name, path.error().number);
  }
  if (path) {
    return path;
  }
  Error error = path.error();
  if (!options.strict && error.number == ENOENT && name.find('/') == std::string::npos) {
    const bool here = ::access(name.c_str(), F_OK) == 0;
    error.message += here ? ": it is not in PATH, but in this directory: ./" + name : ": it is not in PATH";
  }
  return error;
}

Result<process::EngineOptions> engine_options(const cli::Options& options, const spec::Tables& tables) {
  const cli::Startup& startup = options.startup;
  process::EngineOptions result;
  process::LaunchOptions launch;
  launch.takes_streams = true;
  if (startup.user) {
    const cli::RunAs& user = *startup.user;
    if (user.user) {
      launch.identity = process::Identity{*user.user, user.group.value_or(0), {}};
    } else {
      auto identity = process::find_identity(user.name);
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
    launch.environment = startup.environment;
    launch.stack_limit = startup.stack_limit;
    launch.daemonize = startup.daemonize;
    launch.message_prefix = options.program_name + ": ";
    result.launch = std::move(launch);
  }
  for (const pid_t pid : startup.attach) {
    if (pid == ::getpid()) {
      return Error{EPERM, options.strict
                              ? "I'm sorry, I can't let you do that, Dave."
                              : fmt::format("attach: process {} is this tracer, which cannot trace itself", pid)};
    }
  }
  result.attach = startup.attach;
  result.follow_forks = startup.follow_forks;
  result.kill_on_exit = startup.kill_on_exit;
  result.strict = options.strict;
  result.as_ltrace = options.ltrace.has_value();
  result.cpu_time = (options.summary.mode != cli::SummaryMode::none && !options.summary.wall_clock) ||
                    !options.extras.files.record.empty();
  result.interruptible = startup.interruptible;
  // The program continues with ltrace and --explain. With -D it is not a child of the tracer.
  result.signal_program = !options.ltrace && !options.extras.explain && startup.daemonize == process::Daemonize::no;
  result.unknown_exits = !options.format.quiet.has(filter::Quiet::exit);
  result.unknown_detached = !options.format.quiet.has(filter::Quiet::attach);
  result.latencies = summary_options(options).wants_latencies();
  result.sampled = !options.summary.exact && summary_options(options).wants_sums_only();
  result.times = !options.only_counts() || summary_options(options).wants_times();
  result.scope = {options.extras.system_wide, options.extras.groups, options.extras.comms};
  if (!options.filters.trace.full()) {
    const bool stacks = options.format.stack_trace != cli::StackTrace::none && !options.only_counts();
    result.wanted = wanted_calls(options.filters.trace, stacks, tables);
  }
  if (options.extras.explain && options.output.to == cli::Output::To::standard_error) {
    result.wanted_commands = commands_to_explain(tables);
  }
  result.only_functions = !options.filters.trace.has_known(tables);
  result.no_filter_because = why_no_filter(options);
  return result;
}

Result<functions::Options> function_options(const cli::Options& options) {
  functions::Options result;
  result.one_by_one = !options.only_counts() || summary_options(options).wants_results();
  if (const Status selected = select_functions(options, result.selection); !selected) {
    return selected.error();
  }
  return result;
}

}  // namespace tracer::app
