#include "app/wiring.h"

#include <unistd.h>

#include <fmt/core.h>

#include <utility>

#include "app/selinux.h"
#include "arch/syscall_abi.h"

namespace tracer::app {

namespace {

std::vector<trace::Poke> pokes_of(const std::vector<cli::Poke>& pokes) {
  std::vector<trace::Poke> result;
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
  trace::Tampering& what = rule.what;
  if (injection.error) {
    what.result = trace::Tampering::Result{static_cast<std::uint64_t>(*injection.error), true};
  } else if (injection.retval) {
    what.result = trace::Tampering::Result{*injection.retval, false};
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
    result.element_limit = options.ltrace->most_elements;
  }
  result.rings = options.extras.rings;
  result.whole_vcpu = options.format.kvm == cli::Kvm::vcpu_all;
  return result;
}

names::NameOptions name_options(const cli::Options& options) {
  using cli::FdDetail;
  const auto& fds = options.format.fd_details;
  names::NameOptions result;
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
  if (options.format.output == cli::OutputFormat::text) {
    result.hex = options.format.strings_in_hex;
    result.constants = options.format.const_style;
  }
  return result;
}

void report_missing_proc(const cli::Options& options, const pipeline::Note& note) {
  const cli::Format& format = options.format;
  const bool wanted = !format.fd_details.empty() || !format.pid_details.empty() || !options.filters.paths.empty() ||
                      format.stack_trace != cli::StackTrace::none;
  if (wanted && ::access("/proc/self/maps", F_OK) != 0) {
    note("names of descriptors and processes, and stacks, are missing: /proc is not mounted here");
  }
}

Result<names::SecurityContexts> security_contexts(const cli::Options& options) {
  const cli::SecurityContext& wanted = options.format.secontext;
  std::unique_ptr<names::ContextSource> source;
  if (wanted.shown) {
    auto opened = app::open_selinux();
    if (!opened) {
      return opened.error();
    }
    source = std::move(opened).value();
  }
  return names::SecurityContexts({wanted.full, wanted.mismatch}, std::move(source));
}

filter::PathSet traced_paths(const cli::Options& options, const pipeline::Note& note) {
  filter::PathSet paths;
  for (const std::string& path : options.filters.paths) {
    const std::string resolved = paths.add(path);
    if (!resolved.empty() && !options.format.quiet.has(filter::Quiet::path_resolution)) {
      note(resolved);
    }
  }
  return paths;
}

pipeline::PipelineOptions pipeline_options(const cli::Options& options, const spec::Tables& tables) {
  pipeline::PipelineOptions result;
  result.filter.calls = options.filters.trace;
  result.filter.signals = options.filters.signals;
  result.filter.trace_fds = options.filters.trace_fds;
  result.filter.end = options.filters.end;
  result.abbreviate = options.format.abbrev;
  result.dereference = options.format.verbose;
  result.raw = options.format.raw;
  result.quiet = options.format.quiet;
  result.native = arch::native_abi();
  result.summary_only = options.summary.mode == cli::SummaryMode::only;
  result.bare_function_names = options.ltrace.has_value();
  result.counts_as_ltrace = options.ltrace.has_value();
  result.hide_launch = options.ltrace.has_value();
  result.detach_on_execve = options.startup.detach_on_execve;
  result.launched = !options.startup.program.empty();
  result.syscall_limit = options.startup.syscall_limit;
  for (const cli::Injection& injection : options.injections) {
    result.tampering.push_back(tamper_rule(injection, tables));
  }
  return result;
}

Result<std::unique_ptr<trace::StackTracer>> make_stack_tracer(const cli::Options& options, const spec::Tables& tables,
                                                              const pipeline::sink::Complain& complain) {
  if (options.format.stack_trace == cli::StackTrace::none || options.summary.mode == cli::SummaryMode::only) {
    return std::unique_ptr<trace::StackTracer>();
  }
  stack::Options wanted;
  wanted.frame_limit = options.format.stack_frame_limit;
  wanted.sources = options.format.stack_trace == cli::StackTrace::sources;
  wanted.follows_children = options.startup.follow_forks;
  wanted.note = complain;
  if (options.format.stack_unwinder == cli::StackUnwinder::libdw) {
    return stack::make_stack_tracer(wanted, tables, stack::make_libdw_unwinder());
  }
  auto unwinder = stack::make_libunwind_unwinder();
  if (!unwinder) {
    return Error{
        unwinder.error().number,
        fmt::format("--stack-unwinder=libunwind: {}; leave the option out to use libdw", unwinder.error().message)};
  }
  return stack::make_stack_tracer(wanted, tables, std::move(unwinder).value());
}

}  // namespace tracer::app
