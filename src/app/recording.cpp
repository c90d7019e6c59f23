#include "app/recording.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "app/replay_watch.h"
#include "app/replayed_functions.h"
#include "app/terminal.h"
#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/read_file.h"
#include "cli/help.h"
#include "decode/budget.h"
#include "replay/mark.h"

namespace tracer::app {
namespace {

std::string machine_name() {
  utsname name;
  if (::uname(&name) != 0) {
    return {};
  }
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

/// The words of the tracer's own command line.
std::vector<std::string> own_command() {
  std::vector<std::string> words;
  std::string_view text;
  const std::string file = read_file("/proc/self/cmdline", std::size_t{1} << 20U);
  for (text = file; !text.empty();) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_trace_file(const std::string& path) {
  struct stat status;
  const bool is_file = !path.empty() && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_file && replay::decode_mark(read_file(path, replay::mark_size));
}

std::optional<std::chrono::nanoseconds> time_of(const std::optional<cli::ReplayTime>& time,
                                                std::chrono::nanoseconds start) {
  return time ? std::optional(time->since_epoch ? time->time : start + time->time) : std::nullopt;
}

/// Passes complaints of several threads on, until it is closed.
class Complaints {
 public:
  explicit Complaints(std::function<void(std::string_view)> complain) : complain_(std::move(complain)) {}

  void pass_on(std::string_view sentence) {
    const std::lock_guard lock(mutex_);
    if (complain_) {
      complain_(sentence);
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    complain_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> complain_;
};

}  // namespace

cli::TraceFiles with_explained(const cli::Extras& extras) {
  cli::TraceFiles files = extras.files;
  if (is_trace_file(extras.explain_trace)) {
    files.replay = extras.explain_trace;
  }
  return files;
}

Result<std::unique_ptr<replay::TraceFile>> open_recorded(const cli::FilesAhead& files) {
  const std::string& path = is_trace_file(files.explained) ? files.explained : files.replayed;
  return path.empty() ? std::unique_ptr<replay::TraceFile>() : replay::TraceFile::open(path);
}

Result<std::unique_ptr<replay::BlockWriter>> open_recording(const cli::Options& options, const IsToEnd& is_to_end,
                                                            const std::function<void(std::string_view)>& complain) {
  const std::string& path = options.extras.files.record;
  if (path.empty()) {
    return std::unique_ptr<replay::BlockWriter>();
  }
  const auto complaints = std::make_shared<Complaints>(complain);
  const auto pass_on = [complaints](std::string_view sentence) { complaints->pass_on(sentence); };
  replay::Patience patience{is_to_end, [complaints, path] {
                              complaints->pass_on(path + ": it takes nothing, and the rest is not recorded");
                              complaints->close();
                            }};
  const cli::TraceFiles& files = options.extras.files;
  if (files.in_memory()) {
    replay::RingLimits limits;
    limits.time = files.last_time;
    limits.bytes = files.last_bytes.value_or(limits.bytes);
    return std::make_unique<replay::BlockWriter>(std::make_unique<replay::RingTarget>(path, limits, pass_on), true,
                                                 pass_on, std::move(patience));
  }
  auto file = replay::open_for_recording(path);
  if (!file) {
    return file.error();
  }
  replay::TraceWriter writer(std::move(file).value(), path, pass_on);
  return std::make_unique<replay::BlockWriter>(std::make_unique<replay::FileTarget>(std::move(writer)), false, pass_on,
                                               std::move(patience));
}

/// The thread is gone: the tracer's own root directory is asked.
const spec::Call* PrototypesOfFiles::find(const trace::LibraryFunction& function, pid_t /*tid*/) {
  return source_.find(function, ::getpid());
}

bool asks_for_names(const cli::Options& options) {
  return !options.format.fd_details.empty() || !options.format.pid_details.empty() || !options.filters.paths.empty();
}

static_assert(decode::Budget::most_read(cli::most_recorded_text) + 2 * replay::block_size <= replay::most_block_size,
              "a block holds what one call reads");

std::uint32_t recorded_text(const cli::Options& options) {
  return std::max(options.format.string_limit, replay::default_string_limit);
}

replay::Head head_of(const cli::Options& options, const std::string& engine,
                     const std::vector<sysc::Source>& definitions) {
  replay::Head head;
  head.tracer = cli::version_text(1, false);
  head.tracer.resize(head.tracer.find('\n'));
  head.machine = machine_name();
  head.boot_id = read_file("/proc/sys/kernel/random/boot_id", 64);
  head.boot_id.resize(std::min(head.boot_id.find('\n'), head.boot_id.size()));
  head.command = own_command();
  head.program = options.startup.program;
  head.engine = engine;
  head.native = arch::native_abi();
  head.page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  head.string_limit = recorded_text(options);
  head.attached = !options.startup.attach.empty();
  head.follows_forks = options.startup.follow_forks;
  head.has_scope = options.extras.any_scope();
  head.stacks = options.format.stack_trace != cli::StackTrace::none;
  head.sources = options.format.stack_trace == cli::StackTrace::sources;
  head.cpu_times = engine != "inprocess";  // which learns those only of threads that stop
  head.names = engine != "inprocess" || asks_for_names(options);
  head.started = clock_now(CLOCK_REALTIME);
  for (const sysc::Source& source : definitions) {
    head.definitions.emplace_back(source.path, source.text);
  }
  return head;
}

cli::Options with_recorded(cli::Options options, const replay::Head& head,
                           const std::function<void(std::string_view)>& complain) {
  const auto lacks = [&](std::string_view what) {
    complain(fmt::format("{}: recorded {}", options.extras.files.replay, what));
  };
  options.startup.program = head.program;
  options.startup.follow_forks = head.follows_forks;
  options.startup.attach.assign(head.attached ? 1 : 0, 0);
  options.extras.system_wide = head.has_scope;
  cli::Format& format = options.format;
  if (format.string_limit > head.string_limit) {
    lacks(fmt::format("with -s {}: longer strings are cut there", head.string_limit));
    format.string_limit = head.string_limit;
  }
  if (format.stack_trace != cli::StackTrace::none && !head.stacks) {
    lacks("without -k: there are no stacks");
  } else if (format.stack_trace == cli::StackTrace::sources && !head.sources) {
    lacks("with -k, not -kk: there are no source lines");
  }
  if (!head.names && asks_for_names(options)) {
    lacks("inside the program without -y: what descriptors and ids stand for is known of few calls (-y, -Y, -P)");
  }
  if (!head.cpu_times && options.summary.mode != cli::SummaryMode::none && !options.summary.wall_clock) {
    lacks("without CPU times: -c counts elapsed time, as with -w");
    options.summary.wall_clock = true;
  }
  return options;
}

namespace {

/// On a terminal, unless the text is written there all the time.
bool shows_progress(const cli::Options& options) {
  const cli::OutputFormat format = options.format.output;
  const bool is_written_at_end = options.summary.mode == cli::SummaryMode::only || options.extras.explain ||
                                 format == cli::OutputFormat::folded || cli::row_of(format).is_export;
  const bool goes_elsewhere = options.output.to == cli::Output::To::file && !is_terminal(options.output.target);
  return ::isatty(STDERR_FILENO) == 1 && (is_written_at_end || goes_elsewhere);
}

}  // namespace

replay::ReplayOptions replay_options(const cli::Options& options, const replay::TraceFile& file,
                                     functions::library::LibrarySelection functions,
                                     const std::function<void(std::string_view)>& complain) {
  replay::ReplayOptions settings;
  settings.from = time_of(options.extras.files.from, file.head().started);
  settings.to = time_of(options.extras.files.to, file.head().started);
  settings.sources = options.format.stack_trace == cli::StackTrace::sources;
  settings.frame_limit = options.format.stack_frame_limit;
  settings.facts = !options.only_counts() || options.filters.by_path_or_fd() || options.extras.explain;
  if (!functions.empty()) {
    const auto chosen = std::make_shared<ReplayedFunctions>(std::move(functions));
    settings.wants = [chosen](const trace::Event& event) { return chosen->wants(event); };
    settings.at_end = [chosen, complain] { chosen->report_missed(complain); };
  }
  return settings;
}

std::unique_ptr<replay::ReplayEngine> make_replay_engine(const cli::Options& options,
                                                         std::unique_ptr<replay::TraceFile> file,
                                                         functions::library::LibrarySelection functions,
                                                         const spec::Tables& tables,
                                                         const std::function<void(std::string_view)>& complain) {
  const auto watch =
      std::make_shared<ReplayWatch>(printable(file->name()), file->size(), shows_progress(options), complain);
  const auto complain_below = [watch, complain](std::string_view sentence) {
    watch->clear();
    complain(sentence);
  };
  replay::ReplayOptions settings = replay_options(options, *file, std::move(functions), complain_below);
  settings.signals = watch->fd();
  settings.look = [watch](std::uint64_t position) { return watch->look(position); };
  return std::make_unique<replay::ReplayEngine>(std::move(file), std::move(settings), tables, complain_below);
}

}  // namespace tracer::app
