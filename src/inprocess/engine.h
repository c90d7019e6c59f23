// The ptrace engine with calls that are recorded inside its tracees.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "capture/limits.h"
#include "inprocess/image.h"
#include "process/engine_options.h"
#include "ptrace/function_hooks.h"
#include "spec/spec.h"
#include "trace/engine.h"

namespace tracer::inprocess {

/// What the program records of its calls.
struct RecordingOptions {
  capture::CaptureLimits limits;
  bool devices = false;   ///< of descriptors that stand for devices, the numbers of these; with `limits.descriptors`
  bool commands = false;  ///< the command names of threads
  bool stacks = false;    ///< what it takes to unwind stacks afterwards: Event::stack
  PlanFunction plan_function;  ///< empty: calls of functions are not recorded
  bool counts = false;         ///< no calls, but how many were made: EventHandler::totals(). See EngineOptions::times.
};

/// As ptrace::make_ptrace_engine(), whose driver it is. An error with the reason if calls cannot be recorded inside the
/// program here.
Result<std::unique_ptr<trace::Engine>> make_inprocess_engine(process::EngineOptions options, const spec::Tables& tables,
                                                             const RecordingOptions& recording,
                                                             const ptrace::MakeFunctionHooks& functions,
                                                             const std::function<void(const std::string&)>& complain);

}  // namespace tracer::inprocess
