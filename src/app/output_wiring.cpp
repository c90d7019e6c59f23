// The options of the output: its format and its sinks.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/terminal.h"
#include "app/wiring.h"
#include "arch/syscall_abi.h"
#include "base/directory.h"
#include "pipeline/sink/patient_sink.h"
#include "process/ending_signals.h"
#include "stack/symbols.h"

namespace tracer::app {

namespace {

/// Whether one of these signals, which are blocked, waits to be taken.
bool is_pending(const sigset_t& signals) {
  sigset_t pending;
  sigset_t both;
  return ::sigpending(&pending) == 0 && ::sigandset(&both, &pending, &signals) == 0 && ::sigisemptyset(&both) == 0;
}

pipeline::views::ShowPid show_pid(const cli::Options& options) {
  const bool to_terminal = options.output.to == cli::Output::To::standard_error;
  if (options.output.separate && !to_terminal) {
    return options.format.always_show_pid ? pipeline::views::ShowPid::column : pipeline::views::ShowPid::never;
  }
  if (options.format.always_show_pid) {
    return pipeline::views::ShowPid::column;
  }
  // The threads of a scope come and go: even if there is only one, a line needs its id.
  const bool scoped = options.extras.any_scope();
  if (to_terminal) {
    return scoped ? pipeline::views::ShowPid::bracketed : pipeline::views::ShowPid::when_several;
  }
  return scoped || options.startup.follow_forks ? pipeline::views::ShowPid::column
                                                : pipeline::views::ShowPid::column_once_several;
}

bool writes_to_color_terminal(const cli::Output& output) {
  switch (output.to) {
    case cli::Output::To::standard_error:
      return is_color_terminal(STDERR_FILENO);
    case cli::Output::To::file:
      return !output.separate && is_color_terminal(output.target);
    case cli::Output::To::command:
      break;
  }
  return false;
}

bool writes_to_terminal(const cli::Output& output) {
  switch (output.to) {
    case cli::Output::To::standard_error:
      return ::isatty(STDERR_FILENO) == 1;
    case cli::Output::To::file:
      return !output.separate && is_terminal(output.target);
    case cli::Output::To::command:
      break;
  }
  return false;
}

render::Palette palette(const pipeline::Note& note) {
  render::Palette palette = render::Palette::default_colors();
  const char* changes = std::getenv("STRACE_COLORS");
  for (const std::string& wrong : palette.change(changes != nullptr ? changes : "")) {
    note("STRACE_COLORS: '" + wrong +
         "' is not of the form KEY=NUMBER;NUMBER… with a key that is known; it is left out");
  }
  return palette;
}

}  // namespace

bool wants_fold(const cli::Options& options) {
  const cli::Format& format = options.format;
  const cli::Filters& filters = options.filters;
  if (format.fold != cli::Fold::automatic) {
    return format.fold == cli::Fold::always;
  }
  // What was asked for by name is no noise.
  const bool selected = !filters.trace.full() || filters.by_path_or_fd() || filters.end.any();
  const bool strict = options.compat == cli::Compat::strace || options.ltrace.has_value();
  const bool below_lines =
      format.stack_trace != cli::StackTrace::none || !format.dump_reads.empty() || !format.dump_writes.empty();
  return !strict && !selected && !below_lines && writes_to_terminal(options.output);
}

pipeline::views::TextViewOptions text_view_options(const cli::Options& options, const pipeline::Note& note) {
  const cli::Format& format = options.format;
  pipeline::views::TextViewOptions result;
  result.prefix.clock = format.timestamps;
  result.prefix.clock_digits = format.timestamp_digits;
  result.prefix.since_digits = format.relative_timestamps;
  result.prefix.since_width = options.ltrace ? 3 : result.prefix.since_width;
  result.prefix.syscall_number = format.syscall_number;
  result.prefix.instruction_pointer = format.instruction_pointer;
  result.duration_digits = format.syscall_times;
  result.calls.hex = format.strings_in_hex;
  result.calls.constants = format.const_style;
  result.calls.argument_names = format.argument_names;
  result.calls.column = format.column;
  if (wants_colors(format.color, [&options] { return writes_to_color_terminal(options.output); })) {
    result.calls.palette = palette(note);
  }
  result.indent = format.indent;
  result.string_limit = format.string_limit;
  result.native = arch::native_abi();
  result.show_pid = show_pid(options);
  result.program_to_come = !options.startup.program.empty() && !options.startup.attach.empty();
  result.show_context = options.format.secontext.shown;
  result.show_command = format.pid_details.has(cli::PidDetail::comm);
  result.dump_reads = format.dump_reads;
  result.dump_writes = format.dump_writes;
  result.flush_each_event = options.output.to == cli::Output::To::standard_error;
  return result;
}

pipeline::views::LtraceViewOptions ltrace_view_options(const cli::Options& options) {
  using ShowPid = pipeline::views::LtraceViewOptions::ShowPid;
  const cli::Ltrace& ltrace = *options.ltrace;
  pipeline::views::LtraceViewOptions result;
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
  result.shows_utf8 = has_utf8_locale();
  if (ltrace.demangle) {
    result.demangle = [](std::string_view name) { return stack::demangle(name); };
  }
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

IsToEnd watch_for_end(const cli::Options& options, const std::shared_ptr<const bool>& leaves) {
  // Programs that the tracer has to leave by its own doing must not wait for a file that takes nothing.
  if (options.extras.engine != cli::EngineChoice::inprocess || options.startup.attach.empty()) {
    return {};
  }
  return [leaves, ending = process::ending_signals(options.startup.interruptible).watched] {
    return *leaves || is_pending(ending);
  };
}

Result<pipeline::Channels> open_channels(const cli::Options& options, const IsToEnd& is_to_end,
                                         const pipeline::sink::Complain& complain) {
  const cli::Output& output = options.output;
  const auto patient = is_to_end ? std::optional<pipeline::sink::PatientFiles>({is_to_end, complain}) : std::nullopt;
  if (output.to == cli::Output::To::file && output.separate) {
    // The files are opened later; a directory without write permission is reported before the program starts.
    const std::string directory = directory_of(output.target);
    if (::access((directory + "/.").c_str(), W_OK | X_OK) != 0) {
      const int number = errno;
      return Error{number, "Can't fopen '" + output.target + ".PID': " + std::strerror(number)};
    }
    return pipeline::Channels([&output, complain, patient](pid_t tid) {
      const std::string path = fmt::format("{}.{}", output.target, tid);
      return patient ? patient->open_or_drop(path, output.append)
                     : pipeline::sink::open_file_or_drop(path, output.append, complain);
    });
  }
  Result<std::unique_ptr<pipeline::sink::Sink>> opened = pipeline::sink::open_standard_error(complain);
  if (output.to == cli::Output::To::file && patient) {
    opened = patient->open(output.target, output.append);
  } else if (output.to == cli::Output::To::file) {
    opened = pipeline::sink::open_file(output.target, output.append, complain);
  } else if (output.to == cli::Output::To::command) {
    opened = pipeline::sink::open_command(output.target, output.given, complain);
  }
  if (!opened) {
    const int number = opened.error().number;
    return options.ltrace
               ? Error{number, fmt::format("can't open {} for writing: {}", output.target, std::strerror(number))}
               : opened.error();
  }
  return pipeline::Channels(std::move(opened).value());
}

}  // namespace tracer::app
