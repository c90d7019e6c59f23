// The BPF engine: watches from inside the kernel and stops no thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "capture/function_plan.h"
#include "capture/limits.h"
#include "filter/end_filter.h"
#include "process/engine_options.h"
#include "spec/spec.h"
#include "trace/engine.h"
#include "trace/function_counter.h"
#include "trace/function_recorder.h"

namespace tracer::bpf {

/// An engine that counts calls (EventHandler::totals) and reports nothing of a single one. Its programs are in the
/// kernel already when this returns, but nobody is started or watched before run(). The error is one sentence with
/// cause and remedy: missing capabilities, an old kernel, a build without BPF.
///
/// Of the options it leaves `no_filter_because` and `kill_on_exit` aside, and daemonizing, all of which need ptrace.
/// Whatever ends the tracer, SIGKILL included, takes the programs out of the kernel.
Result<std::unique_ptr<trace::Engine>> make_counting_engine(process::EngineOptions options,
                                                            std::function<void(const std::string&)> complain);

/// Counts calls of functions by uprobes: of many at once where the kernel has that (Linux 6.10), else of one by one.
/// Otherwise as above.
Result<std::shared_ptr<trace::FunctionCounter>> make_function_counter(std::function<void(const std::string&)> complain);

/// What to copy of a call of this function in a process; empty if that cannot be known in the kernel.
using PlanFunction = std::function<std::optional<capture::FunctionPlan>(const trace::LibraryFunction&, Abi, pid_t)>;

struct RecordingOptions {
  PlanFunction plan;
  std::uint32_t string_limit = 32;  ///< of what arguments of static probes may point to
  std::uint32_t buffer_size = 0;    ///< of the ring buffer, in bytes; a power of two
};

/// Records static probes by uprobes, from Linux 6.10 on, and calls of functions, from 6.13 on. Otherwise as above.
Result<std::shared_ptr<trace::FunctionRecorder>> make_function_recorder(RecordingOptions options);

struct TracingOptions {
  capture::CaptureLimits limits;
  filter::EndFilter filter;       ///< calls that end otherwise need not be reported
  std::uint32_t buffer_size = 0;  ///< of the ring buffer, in bytes; a power of two
  bool stacks = false;            ///< events say where their thread was: Event::stack
  bool signals = true;            ///< signals are wanted; deaths by them are reported in any case
  bool group_stops = true;        ///< and of processes that they stop
  bool commands = false;          ///< somebody wants to know the names of the threads' programs
  /// TaskSnapshot::state() is captured for calls that fail, for calls of this set also if they succeed, and, with a
  /// stack, for signals that kill as a crash does; empty: never.
  std::optional<trace::WantedCalls> task_states;
};

/// An engine that reports whole calls, signals, exec, fork and exit, with copies of the calls' memory. It stops no
/// thread. Memory that the programs could not read shows as an address; events that found no room in the buffer are
/// counted (EventHandler::lost). `tables` say what to copy; otherwise as above.
Result<std::unique_ptr<trace::Engine>> make_tracing_engine(process::EngineOptions options, const spec::Tables& tables,
                                                           const TracingOptions& tracing,
                                                           std::function<void(const std::string&)> complain);

}  // namespace tracer::bpf
