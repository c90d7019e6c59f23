#include "app/explaining.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "app/terminal.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "decoders/decoders.h"
#include "explain/blocked_threads.h"
#include "explain/explanation.h"
#include "explain/json_trace.h"
#include "explain/report.h"
#include "explain/rules/rules.h"
#include "stack/stack_tracer.h"

namespace tracer::app {

namespace {

decode::Options decoder_settings() {
  decode::Options options;
  options.string_limit = explained_text;
  return options;
}

/// A recording has the paths of descriptors in it.
names::NameOptions names_of(bool live) {
  names::NameOptions options;
  options.paths = !live;
  return options;
}

std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

void write_report(const cli::Options& options, const explain::Explanation& explanation) {
  const bool colors = wants_colors(options.format.color, [] { return is_color_terminal(STDERR_FILENO); });
  const std::string text = options.format.output == cli::OutputFormat::json
                               ? explain::report_json(explanation)
                               : explain::report_text(explanation, colors, options.extras.explain_verbose);
  static_cast<void>(write_all(STDERR_FILENO, text));
}

}  // namespace

cli::Options with_explaining(cli::Options options, const spec::Tables& tables) {
  if (!options.extras.explain) {
    return options;
  }
  if (options.output.to == cli::Output::To::standard_error) {
    const filter::SyscallNames names{tables};
    if (auto set = filter::parse_syscall_set(explain::rules::calls_to_trace(), names); set) {
      options.filters.trace = set.value();
    }
  }
  options.format.quiet = {filter::Quiet::attach, filter::Quiet::personality};
  return options;
}

std::span<const trace::StackFrame> DeathStacks::frames(const trace::Event& event, const trace::Memory& memory) {
  const auto* stop = std::get_if<trace::SignalStop>(&event.what);
  constexpr std::array<int, 7> deadly = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  if (stop == nullptr || std::find(deadly.begin(), deadly.end(), stop->signal) == deadly.end() ||
      walks_ == most_walks) {
    return {};
  }
  ++walks_;
  stack::Options settings;
  settings.frame_limit = 32;
  walker_ = stack::make_stack_tracer(settings, tables_, stack::make_libdw_unwinder());
  return walker_->frames(event, memory);
}

Explaining::Explaining(const cli::Options& options, const spec::Tables& tables, const Run& run, pipeline::View* trace)
    : options_(options),
      story_(run.live, options.output.to != cli::Output::To::standard_error, run.alters_privileges),
      names_(names_of(run.live)),
      decoder_(tables, decoder_settings(), names_.names(), decoders::all()),
      view_(tables, decoder_, story_, system_, run.native, [this](std::string_view sentence) {
        static_cast<void>(write_all(STDERR_FILENO, fmt::format("{}: {}\n", options_.program_name, sentence)));
      }) {
  if (trace != nullptr) {
    both_.emplace(*trace, view_);
  }
  if (options.extras.explain_after) {
    report_at_ = now() + *options.extras.explain_after;
  }
}

std::optional<std::chrono::nanoseconds> Explaining::alarm_at() const {
  if (report_at_) {
    return report_at_;
  }
  const explain::Process* first = story_.first();
  return first != nullptr && first->exit && story_.live() ? std::optional(look_at_.value_or(now())) : std::nullopt;
}

trace::Verdict Explaining::on_alarm() {
  if (report_at_) {
    constexpr std::chrono::seconds patience(1);
    constexpr std::chrono::milliseconds delay(5);
    const explain::Waits waits = explain::find_waits(story_);
    report_until_ = report_until_.value_or(now() + patience);
    if (waits.any_is_stopped && now() < *report_until_) {
      report_at_ = now() + delay;
      return trace::Verdict::go_on;
    }
    report_at_.reset();
    report(explain::explain(story_, waits));
    return options_.startup.program.empty() ? trace::Verdict::detach_all : trace::Verdict::go_on;
  }
  constexpr std::chrono::milliseconds interval(300);  // a process that fails at once has failed by then
  const bool is_first_look = !look_at_;
  look_at_ = now() + interval;
  if (!is_first_look && !is_noted_) {
    is_noted_ = true;
    if (!explain::runs_in_background(story_)) {
      view_.note_living();
    }
  }
  return !is_first_look && explain::runs_in_background(story_) ? trace::Verdict::detach_all : trace::Verdict::go_on;
}

void Explaining::report(const explain::Explanation& explanation) {
  write_report(options_, explanation);
  reported_ = true;
}

void Explaining::report_end() {
  const explain::Process* first = story_.first();
  if (!reported_ || (first != nullptr && first->exit)) {
    report(explain::explain(story_));
  }
}

void Explaining::explain_missing_program(const std::string& name) {
  constexpr int not_found = 127;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const pid_t self = ::getpid();
  const char* path = std::getenv("PATH");
  std::string_view directories = name.find('/') == std::string::npos && path != nullptr ? path : "";
  do {
    const std::size_t colon = std::min(directories.find(':'), directories.size());
    explain::Call call;
    call.name = "execve";
    call.outcome = explain::CallOutcome::failed;
    call.error = "ENOENT";
    explain::Argument& argument = call.args.emplace_back();
    argument.name = "pathname";
    argument.type = "path";
    argument.value.kind = explain::Value::Kind::text;
    argument.value.text = (colon == 0 ? "" : std::string(directories.substr(0, colon)) + '/') + name;
    story_.begin_call(self, self, now, call);
    story_.end_call(self, {self, now, &system_}, std::move(call));
    directories.remove_prefix(std::min(colon + 1, directories.size()));
  } while (!directories.empty());
  explain::ExitInfo end;
  end.status = not_found;
  story_.command(self, name);
  story_.exited(self, self, now, end);
  report(explain::explain(story_));
}

int explain_recorded(const cli::Options& options) {
  const std::string& name = options.extras.explain_trace;
  const auto complain = [&](const std::string& why) {
    static_cast<void>(write_all(STDERR_FILENO, fmt::format("{}: --explain={}: {}\n", options.program_name, name, why)));
    return EXIT_FAILURE;
  };
  explain::Story story(false, true, true);
  UniqueFd file;
  if (name != "-") {
    file.reset(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
      return complain(std::strerror(errno));
    }
  }
  if (options.output.to != cli::Output::To::standard_error) {
    return complain("it is no recording of --record, and only the calls of one can be written with -o/--output");
  }
  if (const Status read = explain::read_json_trace(name == "-" ? STDIN_FILENO : file.get(), story); !read) {
    return complain(read.error().message + "; record the run with -f -y -s 4096 --format=json -o FILE");
  }
  write_report(options, explain::explain(story));
  return EXIT_SUCCESS;
}

}  // namespace tracer::app
