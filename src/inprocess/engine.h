// The ptrace engine with calls that are recorded inside its tracees.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "capture/limits.h"
#include "process/engine_options.h"
#include "spec/spec.h"
#include "trace/engine.h"

namespace tracer::inprocess {

/// As ptrace::make_ptrace_engine(), whose driver it is. An error with the reason if calls cannot be recorded inside the
/// program here.
Result<std::unique_ptr<trace::Engine>> make_inprocess_engine(process::EngineOptions options, const spec::Tables& tables,
                                                             const capture::CaptureLimits& limits,
                                                             const std::function<void(const std::string&)>& complain);

}  // namespace tracer::inprocess
