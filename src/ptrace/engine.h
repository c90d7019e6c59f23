// The ptrace engine: launches or attaches, follows, and reports what stops.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/engine_options.h"
#include "ptrace/call_recorder.h"
#include "ptrace/function_hooks.h"
#include "trace/engine.h"

namespace tracer::ptrace {

/// Starts the program up to its first system call and attaches to the processes that are to be attached. `complain`
/// gets one sentence, without prefix, for each process that cannot be attached. An error if nothing at all can be
/// traced (its message is empty if everything has been said already). `functions`: empty if no functions are traced.
/// `recorder`: empty if every call that is wanted is to stop; else a program is launched, and nothing else is traced.
/// With LaunchOptions::daemonize it returns in another process than it was called in.
Result<std::unique_ptr<trace::Engine>> make_ptrace_engine(process::EngineOptions options,
                                                          const std::function<void(const std::string&)>& complain,
                                                          const MakeFunctionHooks& functions = {},
                                                          const MakeCallRecorder& recorder = {});

}  // namespace tracer::ptrace
