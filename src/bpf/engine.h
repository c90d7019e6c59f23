// The BPF engine: watches from inside the kernel and stops nobody.
#pragma once

#include <memory>

#include "base/result.h"
#include "bpf/capture_limits.h"
#include "process/engine_options.h"
#include "spec/spec.h"
#include "trace/engine.h"

namespace tracer {

/// An engine that counts calls (EventHandler::totals) and reports nothing of a single one. Its programs are in the
/// kernel already when this returns, but nobody is started or watched before run(). The error is one sentence with
/// cause and remedy: missing capabilities, an old kernel, a build without BPF.
///
/// Of the options it leaves `no_filter_because` and `kill_on_exit` aside, and daemonizing, all of which need ptrace.
/// Whatever ends the tracer, SIGKILL included, takes the programs out of the kernel.
Result<std::unique_ptr<Engine>> make_counting_engine(EngineOptions options,
                                                     std::function<void(const std::string&)> complain);

struct TracingOptions {
  CaptureLimits limits;
  std::uint32_t buffer_size = 0;  ///< of the ring buffer, in bytes; a power of two
  bool stacks = false;            ///< events say where their thread was: Event::stack
};

/// An engine that reports whole calls, signals, exec, fork and exit, with what the calls' memory held. Nobody stops for
/// it: what the programs could not read shows as an address, and what found no room in the buffer is counted
/// (EventHandler::lost). `tables` say what to copy; otherwise as above.
Result<std::unique_ptr<Engine>> make_tracing_engine(EngineOptions options, const spec::Tables& tables,
                                                    const TracingOptions& tracing,
                                                    std::function<void(const std::string&)> complain);

}  // namespace tracer
