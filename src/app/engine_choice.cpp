#include "app/engine_choice.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "app/explaining.h"
#include "app/function_plans.h"
#include "app/raised_rights.h"
#include "app/recording.h"
#include "app/speaker.h"
#include "app/wiring.h"
#include "arch/call_site.h"
#include "bpf/engine.h"
#include "explain/calls_of_interest.h"
#include "explain/file_header.h"
#include "explain/story.h"
#include "inprocess/engine.h"
#include "proc/cgroups/finder.h"
#include "ptrace/engine.h"

namespace tracer::app {
namespace {

/// Of the kernel's memory, for calls of functions that are yet to be read.
constexpr std::uint32_t most_recorded_bytes = 64U << 20;

bool names_functions(const cli::Options& options) {
  return !options.extras.libraries.empty() || !options.extras.symbols.empty() || !options.extras.probes.empty() ||
         options.ltrace.has_value();
}

/// Returns the counter that counts functions in the kernel, or an error that says why breakpoints have to do it.
Result<std::shared_ptr<trace::FunctionCounter>> choose_function_counter(
    const cli::Options& options, const functions::Options& function_options,
    const std::function<void(const std::string&)>& complain) {
  if (options.extras.engine == cli::EngineChoice::ptrace) {
    return Error{0, options.ltrace ? "as ltrace does it" : "--engine=ptrace asks for that"};
  }
  if (!options.only_counts()) {
    return Error{0, "calls are to be shown, not only counted"};
  }
  const bool has_functions = !options.extras.libraries.empty() || !options.extras.symbols.empty();
  if (function_options.one_by_one && has_functions) {
    return Error{0,
                 "times and errors are known only where a function returns, and there nobody but ptrace stops; "
                 "-U calls,name -S calls does without"};
  }
  return bpf::make_function_counter(complain);
}

/// Returns what needs a stopped thread at each call of a function; empty if it can be recorded and shown later.
std::string why_no_past(const cli::Options& options) {
  if (options.format.stack_trace != cli::StackTrace::none || options.format.output == cli::OutputFormat::folded) {
    return "the stacks of function calls are read from stopped threads";
  }
  const cli::Format& format = options.format;
  if (!format.fd_details.empty() || !format.pid_details.empty() || !options.filters.paths.empty() ||
      format.namespaces || format.kvm != cli::Kvm::none || format.secontext.shown || options.extras.rings) {
    return "what descriptors and ids stand for is looked up while the thread is stopped (-y, -Y, -P and the like)";
  }
  return {};
}

std::string why_not_recorded(const cli::Options& options) {
  if (options.extras.engine != cli::EngineChoice::bpf) {
    return "breakpoints report functions unless --engine=bpf asks for uprobes";
  }
  return why_no_past(options);
}

/// Returns what records functions in the kernel, or an error that says why breakpoints have to report them.
Result<std::shared_ptr<trace::FunctionRecorder>> choose_function_recorder(const cli::Options& options,
                                                                          const spec::Tables& tables,
                                                                          trace::PrototypeSource& prototypes) {
  if (std::string why_not = why_not_recorded(options); !why_not.empty()) {
    return Error{0, std::move(why_not)};
  }
  const bool records = !options.extras.files.record.empty();
  bpf::RecordingOptions recording;
  recording.buffer_size = std::min(options.extras.bpf_buffer, most_recorded_bytes);
  recording.string_limit =
      records ? std::max(options.format.string_limit, recorded_text(options)) : options.format.string_limit;
  capture::CaptureLimits limits;
  limits.string_limit = recording.string_limit;
  limits.whole = records || !options.format.abbrev.full();
  recording.plan = function_planner(tables, prototypes, limits);
  return bpf::make_function_recorder(std::move(recording));
}

/// Returns which of the options needs stopped tracees, as BPF does not stop them; empty if none does.
std::string why_not_by_bpf(const cli::Options& options) {
  if (names_functions(options)) {
    return "functions are shown, which needs breakpoints";
  }
  if (!options.injections.empty()) {
    return "calls are tampered with, which needs stopped threads";
  }
  if (options.startup.detach_on_execve) {
    return "-b detaches from single processes";
  }
  if (options.startup.kill_on_exit) {
    return "--kill-on-exit needs ptrace";
  }
  if (options.startup.daemonize != process::Daemonize::no) {
    return "with -D the program is not a child of the tracer";
  }
  if (options.only_counts() && options.filters.end.any()) {
    return "calls are chosen by how they end";
  }
  if (options.only_counts() && options.startup.syscall_limit != 0) {
    return "--syscall-limit ends tracing after a certain call";
  }
  if (options.only_counts()) {
    return options.filters.by_path_or_fd() ? "calls are chosen by what their arguments name" : "";
  }
  if (options.format.stack_trace != cli::StackTrace::none &&
      options.format.stack_unwinder == cli::StackUnwinder::libunwind) {
    return "libunwind reads the memory of a stopped thread (--stack-unwinder)";
  }
  const cli::Format& format = options.format;
  if (format.namespaces || format.kvm != cli::Kvm::none || format.secontext.shown || options.extras.rings) {
    return "some information has to be looked up while the thread is stopped (--namespace, --kvm, --secontext, "
           "--io-uring)";
  }
  if (!options.format.dump_reads.empty() || !options.format.dump_writes.empty()) {
    return "-e read= and -e write= need more of a buffer than is captured";
  }
  return {};
}

/// Whether strace says of the program, which it shows calls of or counts, that it runs in 32 bit mode. A kernel that
/// only counts does not say so.
bool runs_in_32_bit_mode(const cli::Options& options, const process::EngineOptions& engine_options) {
  return options.compat == cli::Compat::strace && !options.format.quiet.has(filter::Quiet::personality) &&
         engine_options.launch && explain::read_header(engine_options.launch->path).bits == 32;
}

/// Whether more than paths is shown of descriptors that have none.
bool has_kernel_details(const cli::Format& format) {
  const auto& fds = format.fd_details;
  return fds.has(cli::FdDetail::socket) || fds.has(cli::FdDetail::pidfd) || fds.has(cli::FdDetail::eventfd) ||
         fds.has(cli::FdDetail::signalfd);
}

Result<std::unique_ptr<trace::Engine>> make_bpf_engine(const cli::Options& options,
                                                       const process::EngineOptions& engine_options,
                                                       const spec::Tables& tables,
                                                       const std::function<void(const std::string&)>& complain) {
  if (has_raised_rights() && (!engine_options.attach.empty() || options.extras.any_scope())) {
    return Error{EPERM,
                 "this copy of the tracer has capabilities that you lack, so it watches only programs that it starts"};
  }
  if (options.only_counts()) {
    return bpf::make_counting_engine(engine_options, complain);
  }
  bpf::TracingOptions tracing;
  tracing.buffer_size = options.extras.bpf_buffer;
  tracing.stacks = options.format.stack_trace != cli::StackTrace::none;
  const bool records = !options.extras.files.record.empty();
  tracing.limits.string_limit = std::max({options.format.string_limit, options.extras.explain ? explained_text : 0U,
                                          records ? recorded_text(options) : 0U});
  // --explain: a program that nobody stops may be gone before its environment can be read from /proc.
  tracing.limits.whole = records || options.extras.explain || !options.format.abbrev.full();
  const auto& fds = options.format.fd_details;
  tracing.limits.descriptors = records || !fds.empty() || !options.filters.paths.empty();
  tracing.limits.details = records || has_kernel_details(options.format);
  tracing.limits.processes = records || !options.format.pid_details.empty();
  if (options.extras.explain) {
    const filter::SyscallNames names{tables};
    auto turning_points = filter::parse_syscall_set(explain::context_changing_calls(), names);
    tracing.task_states = turning_points ? turning_points.value().kernel_numbers(tables) : trace::WantedCalls{};
  }
  tracing.commands = records || options.format.pid_details.has(cli::PidDetail::comm) ||
                     options.format.output != cli::OutputFormat::text;
  const auto wants = [&options](int signal) {
    return options.filters.signals.contains(static_cast<std::uint32_t>(signal));
  };
  tracing.signals = !options.filters.signals.empty();
  tracing.group_stops = wants(SIGSTOP) || wants(SIGTSTP) || wants(SIGTTIN) || wants(SIGTTOU);
  if (!records) {  // a recording also has the calls that are not shown
    tracing.filter = options.filters.end;
  }
  return bpf::make_tracing_engine(engine_options, tables, tracing, complain);
}

/// How much of a string the recorder inside a program copies at most.
constexpr std::uint32_t longest_text_inside = 4096;

/// Returns why the recorder cannot be put into programs that run already, and be taken out again; empty if it can.
std::string why_not_attach_inside(const cli::Options& options) {
  if (!options.startup.follow_forks) {
    return "threads that are not followed could take away what it has in the process (add -f)";
  }
  // Calls raise SIGSYS until the tracer has left the process, so it has to come to that.
  if (options.output.to != cli::Output::To::file && !options.only_counts()) {
    return "a tracer that cannot leave because its reader waits would have the program killed (write to a file, -o "
           "FILE)";
  }
  if (options.startup.interruptible == process::Interruptible::anywhere) {
    return "-I1 lets signals end the tracer before it has left the process";
  }
  return {};
}

/// Returns which of the options cannot be had from calls that are recorded inside the program; empty if none does.
std::string why_not_inside(const cli::Options& options) {
  const cli::Format& format = options.format;
  if (options.extras.any_scope()) {
    return std::string(cli::scope_options) + " need the bpf engine";
  }
  if (options.startup.survive && !options.startup.attach.empty()) {
    return "--survive asks that nothing dies with the tracer, and calls that raise SIGSYS would kill the program then";
  }
  if (!options.startup.attach.empty()) {
    if (std::string why_not = why_not_attach_inside(options); !why_not.empty()) {
      return why_not;
    }
  }
  if (!options.injections.empty()) {
    return "calls are tampered with, which needs stopped threads";
  }
  if (options.startup.daemonize != process::Daemonize::no) {
    return "with -D the program is not a child of the tracer";
  }
  if (options.summary.mode != cli::SummaryMode::none && !options.summary.wall_clock &&
      summary_options(options).wants_times()) {
    return "the CPU time of a call is not known inside the program; -w counts elapsed time, and -S calls -U "
           "calls,errors,name needs none";
  }
  if (options.extras.explain) {
    return "--explain looks at the descriptors, directories and environment of stopped threads";
  }
  if (format.stack_trace != cli::StackTrace::none && format.stack_unwinder == cli::StackUnwinder::libunwind) {
    return "libunwind reads the memory of a stopped thread (--stack-unwinder)";
  }
  if (format.namespaces || format.kvm != cli::Kvm::none || format.secontext.shown || options.extras.rings) {
    return "some information has to be looked up while the thread is stopped (--namespace, --kvm, --secontext, "
           "--io-uring)";
  }
  if (!format.dump_reads.empty() || !format.dump_writes.empty()) {
    return "-e read= and -e write= need more of a buffer than is captured";
  }
  if (format.string_limit > longest_text_inside) {
    return "-s allows 4096 bytes at most";
  }
  return {};
}

/// Returns what keeps a program from counting calls of its functions itself; empty if it can.
std::string why_not_count_functions_inside(const cli::Options& options, const functions::Options& function_options) {
  if (options.ltrace || !options.only_counts() || function_options.one_by_one || !options.extras.probes.empty()) {
    return "functions are shown, which needs breakpoints; -c -U calls,name -S calls counts them inside the program";
  }
  if (!options.startup.follow_forks) {
    return "children that are not followed would count for their parents (add -f)";
  }
  if (options.extras.any_scope()) {
    return std::string(cli::scope_options) + " need the bpf engine";
  }
  const Status able = arch::can_record_inside();
  return able ? std::string() : able.error().message;
}

/// Returns what keeps a program from recording calls of its functions itself; empty if it can.
std::string why_not_record_functions_inside(const cli::Options& options) {
  if (options.ltrace) {
    return "as ltrace does it";
  }
  if (!options.startup.attach.empty()) {
    return "calls of functions are recorded inside programs that the tracer starts";
  }
  if (!options.startup.follow_forks) {
    return "children that are not followed would run into the stubs (add -f)";
  }
  return why_no_past(options);
}

/// Whether nothing of single calls is asked for.
bool only_sums(const cli::Options& options) {
  return options.only_counts() && !options.filters.by_path_or_fd() && !options.filters.end.any() &&
         !summary_options(options).wants_latencies();
}

Error refuse_inside(const std::string& why_not) {
  return {0, "--engine=inprocess: " + why_not + "; leave the option out to trace with ptrace"};
}

/// What traces functions; nothing if none is asked for. To be called once.
ptrace::MakeFunctionHooks function_hooks(functions::Options& options) {
  if (options.selection.empty()) {
    return {};
  }
  return [&options](ptrace::EventSink& sink) {
    return std::make_unique<functions::FunctionTracer>(std::move(options), sink);
  };
}

/// The engine that drives the tracing of functions.
Result<ChosenEngine> make_stopping_engine(process::EngineOptions engine_options, functions::Options function_options,
                                          const std::string& name,
                                          const std::function<void(const std::string&)>& complain) {
  auto engine = ptrace::make_ptrace_engine(std::move(engine_options), complain, function_hooks(function_options));
  if (!engine) {
    return engine.error();
  }
  return ChosenEngine{std::move(engine).value(), name};
}

Result<ChosenEngine> make_inside_engine(const cli::Options& options, const process::EngineOptions& engine_options,
                                        functions::Options function_options, const spec::Tables& tables,
                                        trace::PrototypeSource& prototypes,
                                        const std::function<void(const std::string&)>& complain) {
  if (const std::string why_not = why_not_inside(options); !why_not.empty()) {
    return refuse_inside(why_not);
  }
  inprocess::RecordingOptions recording;
  capture::CaptureLimits& limits = recording.limits;
  const bool records = !options.extras.files.record.empty();
  limits.string_limit = records ? recorded_text(options) : options.format.string_limit;
  limits.whole = records || !options.format.abbrev.full();
  const auto& fds = options.format.fd_details;
  const bool all_names = records && asks_for_names(options);
  limits.descriptors = all_names || !fds.empty() || !options.filters.paths.empty();
  limits.details = all_names || has_kernel_details(options.format);
  limits.processes = all_names || !options.format.pid_details.empty();
  recording.devices = all_names || fds.has(cli::FdDetail::dev);
  recording.commands = all_names || options.format.pid_details.has(cli::PidDetail::comm) ||
                       options.format.output != cli::OutputFormat::text;
  recording.counts = only_sums(options);
  if (function_options.records_inside) {
    capture::CaptureLimits function_limits;
    function_limits.string_limit = limits.string_limit;
    function_limits.whole = limits.whole;
    recording.plan_function = leaf_function_planner(tables, prototypes, function_limits);
  }
  recording.stacks = options.format.stack_trace != cli::StackTrace::none;
  auto engine =
      inprocess::make_inprocess_engine(engine_options, tables, recording, function_hooks(function_options), complain);
  if (!engine && engine.error().message.empty()) {
    return engine.error();  // all is said already
  }
  if (!engine) {
    return refuse_inside(engine.error().message);
  }
  return ChosenEngine{std::move(engine).value(), "inprocess"};
}

}  // namespace

Result<ChosenEngine> choose_engine(const cli::Options& options, process::EngineOptions engine_options,
                                   functions::Options function_options, const spec::Tables& tables,
                                   trace::PrototypeSource& prototypes,
                                   const std::function<void(const std::string&)>& complain) {
  using cli::EngineChoice;
  if (engine_options.launch) {
    engine_options.launch->no_new_rights = has_raised_rights();
  }
  const EngineChoice choice = options.extras.engine;
  // -D of ltrace has lines of its own form.
  const std::function<void(const std::string&)> report = options.ltrace ? Speaker("DEBUG") : complain;
  const auto debug = [&](const std::string& sentence) {
    if (options.startup.debug) {
      report(sentence);
    }
  };
  if (!function_options.selection.empty() && engine_options.interruptible == process::Interruptible::anywhere) {
    engine_options.interruptible = process::Interruptible::waiting;  // there are breakpoints to be taken away first
  }
  if (const Status found = proc::cgroups::check(options.extras.groups); !found) {
    return found.error();
  }
  // `auto` does not take it although it shows the same lines for less: by what it shows the program itself decides. A
  // program that knows the recorder can call through its page, of which nothing is recorded, or write calls into its
  // ring that it never made. Who traces without a word about the engine relies on every call's being there.
  if (choice == EngineChoice::inprocess) {
    debug("engine: inprocess, as --engine says");
    if (options.startup.debug) {
      engine_options.debug = report;
    }
    if (names_functions(options)) {
      const std::string why_not = why_not_count_functions_inside(options, function_options);
      function_options.counts_inside = why_not.empty();
      // Where single calls are of no interest, what keeps it from counting them is the reason.
      const bool are_counted = options.only_counts() && !function_options.one_by_one;
      const std::string no_record = are_counted ? why_not : why_not_record_functions_inside(options);
      function_options.records_inside = !why_not.empty() && no_record.empty();
      if (!why_not.empty() && !no_record.empty() && engine_options.only_functions) {
        return refuse_inside(no_record);
      }
      debug(why_not.empty() ? "functions: the program counts calls through its linkage tables, breakpoints the others"
            : no_record.empty() ? "functions: the program records calls through its linkage tables that it can, "
                                  "breakpoints report the others"
                                : "functions: breakpoints: " + no_record);
      if (engine_options.only_functions && why_not.empty()) {
        engine_options.no_filter_because = "functions are counted, and the stubs have to be removed before detaching";
        return make_stopping_engine(std::move(engine_options), std::move(function_options), "inprocess", complain);
      }
    }
    return make_inside_engine(options, engine_options, std::move(function_options), tables, prototypes, complain);
  }
  bool kernel_watches_functions = false;
  if (names_functions(options) && !options.extras.any_scope()) {
    auto counter = choose_function_counter(options, function_options, complain);
    kernel_watches_functions = counter.ok();
    if (counter) {
      function_options.counter = std::move(counter).value();
      function_options.one_by_one = false;
      debug("functions: uprobes count their calls in the kernel, where nobody stops for it");
    } else if (choice == EngineChoice::bpf) {
      auto recorder = choose_function_recorder(options, tables, prototypes);
      if (!recorder) {
        return Error{0, "--engine=bpf: " + recorder.error().message + "; leave the option out to trace with ptrace"};
      }
      kernel_watches_functions = true;
      function_options.recorder = std::move(recorder).value();
      function_options.one_by_one = true;
      debug(function_options.recorder->records_calls()
                ? "functions: uprobes record their calls in the kernel, where nobody stops for it"
                : "functions: breakpoints, as the kernel records calls since Linux 6.13; uprobes record static probes");
    } else {
      debug("functions: breakpoints, not uprobes: " + counter.error().message);
    }
  }
  if (choice == EngineChoice::ptrace) {
    if (options.extras.any_scope()) {
      return Error{0, std::string(cli::scope_options) + " need the bpf engine; leave --engine=ptrace out"};
    }
    debug("engine: ptrace, as --engine says");
  } else {
    std::string why_not = why_not_by_bpf(options);
    if (why_not.empty() && choice == EngineChoice::automatic && !options.only_counts() && !options.extras.any_scope()) {
      why_not = "calls are to be shown, not only counted";
    }
    if (why_not.empty() && choice == EngineChoice::automatic && !options.extras.any_scope() &&
        runs_in_32_bit_mode(options, engine_options)) {
      why_not = "the mode of the program is to be reported, as strace does";
    }
    if (why_not.empty()) {
      auto engine = make_bpf_engine(options, engine_options, tables, complain);
      if (engine) {
        debug(options.only_counts() ? "engine: bpf, which counts in the kernel and stops nobody"
                                    : "engine: bpf, which watches from the kernel and stops nobody");
        return ChosenEngine{std::move(engine).value(), "bpf"};
      }
      why_not = engine.error().message;
    }
    if (options.extras.any_scope()) {
      return Error{0, std::string(cli::scope_options) + " need the bpf engine: " + why_not};
    }
    if (choice == EngineChoice::bpf && !kernel_watches_functions) {
      return Error{0, "--engine=bpf: " + why_not + "; leave the option out to trace with ptrace"};
    }
    debug("engine: ptrace, not bpf: " + why_not);
  }
  if (options.startup.debug) {
    engine_options.debug = report;
  }
  return make_stopping_engine(std::move(engine_options), std::move(function_options), "ptrace", complain);
}

}  // namespace tracer::app
