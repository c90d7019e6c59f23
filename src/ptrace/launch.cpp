#include "ptrace/launch.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tracer::ptrace {
namespace {

/// Stops `pid`, which waits behind the gate.
Result<Stopped> seize_and_stop(pid_t pid, unsigned ptrace_options) {
  Result<Running> seized = Running::seize(pid, ptrace_options);
  if (!seized) {
    const int why = seized.error().number;
    return Error{why, fmt::format("attach: ptrace(PTRACE_SEIZE, {}): {}", pid, std::strerror(why))};
  }
  Running running = std::move(seized).value();
  running.interrupt();
  const auto report = wait_for(pid);
  if (!report || !WIFSTOPPED(report.value().status)) {
    return Error{ESRCH, "The program was killed before it could start"};
  }
  return std::move(running).stopped();
}

}  // namespace

Result<Launched> launch(const process::LaunchOptions& options, bool strict, unsigned ptrace_options,
                        std::span<const sock_filter> filter, std::optional<process::Interruptible> in_front) {
  Result<process::StartedProgram> started = start_program(options, strict, filter);
  if (!started) {
    return started.error();
  }
  process::StartedProgram program = std::move(started).value();
  std::optional<Backstage> backstage;
  if (in_front && options.daemonize == process::Daemonize::no) {
    Result<Backstage> behind = Backstage::step_behind_front(*in_front);
    if (!behind) {
      return behind.error();
    }
    backstage = std::move(behind).value();
  }
  if (const Status waits = process::await_at_gate(program); !waits) {
    return waits.error();
  }
  Result<Stopped> stopped = seize_and_stop(program.pid, ptrace_options);
  if (!stopped) {
    return stopped.error();
  }
  return Launched{std::move(stopped).value(), std::move(program.gate.outer), std::move(backstage)};
}

}  // namespace tracer::ptrace
