// What is copied of calls of functions that the kernel records, or the program itself.
#pragma once

#include "bpf/engine.h"
#include "capture/limits.h"
#include "inprocess/image.h"
#include "pipeline/prototypes.h"
#include "spec/spec.h"
#include "trace/prototype_source.h"

namespace tracer::app {

/// Makes plans by the prototypes that the pipeline shows calls with. `tables` and `source` outlive what it returns.
bpf::PlanFunction function_planner(const spec::Tables& tables, trace::PrototypeSource& source,
                                   capture::CaptureLimits limits);
/// The same of those whose return address can be replaced without harm: their descriptions say `leaf`. What cannot run
/// code of the program meanwhile cannot unwind its stack, copy it, switch to another or come back twice.
inprocess::PlanFunction leaf_function_planner(const spec::Tables& tables, trace::PrototypeSource& source,
                                              capture::CaptureLimits limits);

}  // namespace tracer::app
