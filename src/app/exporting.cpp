#include "app/exporting.h"

#include <algorithm>

#include "app/recording.h"
#include "pipeline/exports/chrome.h"
#include "pipeline/exports/html.h"
#include "pipeline/exports/perfetto.h"
#include "pipeline/exports/sqlite.h"
#include "pipeline/exports/tree.h"

namespace tracer::app {

namespace {

/// How many bytes of each argument of a program are in its command line.
constexpr std::uint32_t command_text = 4096;
/// How many bytes of each string a report shows at least.
constexpr std::uint32_t report_text = 256;

/// How many bytes of each buffer an engine that stops no thread keeps for --format=pcapng.
constexpr std::uint32_t packet_text = 65'536;

template <typename Export>
std::unique_ptr<pipeline::exports::Exporter> streamed(pipeline::exports::Write write) {
  return std::make_unique<Export>(std::move(write));
}

}  // namespace

cli::Options with_export(cli::Options options, const spec::Tables& tables) {
  const cli::OutputFormatRow& row = cli::row_of(options.format.output);
  if (!row.is_export) {
    return options;
  }
  const bool recorded = !options.extras.files.replay.empty();
  options.format.quiet.add(filter::Quiet::attach);
  options.format.quiet.add(filter::Quiet::personality);
  if (row.format == cli::OutputFormat::pcapng) {
    const auto carriers = filter::parse_syscall_set(
        "?read,?write,?readv,?writev,?recv,?recvfrom,?recvmsg,?recvmmsg,?recvmmsg_time64,?send,?sendto,?sendmsg,"
        "?sendmmsg,?execve,?execveat",
        {tables, all_abis, false});
    if (options.filters.trace.full() && !options.extras.explain && carriers) {
      options.filters.trace = carriers.value();
    }
    options.format.fd_details = {cli::FdDetail::path, cli::FdDetail::socket};
    options.format.string_limit = std::max(options.format.string_limit, recorded ? 0 : packet_text);
    return options;
  }
  if (options.format.output == cli::OutputFormat::html) {
    options.startup.follow_forks = true;
    options.format.string_limit = std::max(options.format.string_limit, report_text);
    if (options.format.fd_details.empty()) {  // the report is about files and sockets
      options.format.fd_details = {cli::FdDetail::path, cli::FdDetail::socket};
    }
  }
  if (!row.is_of_processes) {
    if (options.format.fd_details.empty()) {
      options.format.fd_details = {cli::FdDetail::path};
    }
    return options;
  }
  const auto execs = filter::parse_syscall_set("?execve,?execveat", {tables, all_abis, false});
  if (!execs) {
    return options;
  }
  filter::SyscallSet others = execs.value();
  others.invert();
  if (options.filters.trace.full() && !options.extras.explain) {
    options.filters.trace = execs.value();
  }
  options.format.abbrev = others;  // the whole environment
  options.format.string_limit =
      std::max(options.format.string_limit, recorded ? replay::default_string_limit : command_text);
  return options;
}

bool wants_verdict(const cli::Options& options) {
  const cli::Filters& filters = options.filters;
  return options.format.output == cli::OutputFormat::html && filters.trace.full() && !filters.end.any() &&
         !filters.by_path_or_fd() && filters.signals.full() && options.startup.syscall_limit == 0;
}

Result<pipeline::views::ExportView::Make> export_maker(const cli::Options& options,
                                                       const pipeline::sink::Complain& complain,
                                                       std::function<std::string()> verdict) {
  using Make = pipeline::views::ExportView::Make;
  switch (options.format.output) {
    case cli::OutputFormat::tree:
      return Make(streamed<pipeline::exports::Tree>);
    case cli::OutputFormat::dot:
      return Make(streamed<pipeline::exports::Dot>);
    case cli::OutputFormat::chrome:
      return Make(streamed<pipeline::exports::Chrome>);
    case cli::OutputFormat::perfetto:
      return Make(streamed<pipeline::exports::Perfetto>);
    case cli::OutputFormat::sqlite: {
      // SQLite knows names such as :memory: that stand for no file.
      const std::string& name = options.output.target;
      auto base = pipeline::exports::make_sqlite(name.starts_with(':') ? "./" + name : name, complain);
      if (!base) {
        return base.error();
      }
      // A function is copied, so that what it hands over is held in common.
      auto held = std::make_shared<std::unique_ptr<pipeline::exports::Exporter>>(std::move(base).value());
      return Make([held](const pipeline::exports::Write&) { return std::move(*held); });
    }
    case cli::OutputFormat::html:
      return Make([verdict = std::move(verdict)](pipeline::exports::Write write) {
        return std::make_unique<pipeline::exports::Html>(std::move(write), verdict);
      });
    case cli::OutputFormat::text:
    case cli::OutputFormat::json:
    case cli::OutputFormat::folded:
    case cli::OutputFormat::pcapng:  // it is a view of its own
      break;
  }
  return Make();
}

}  // namespace tracer::app
