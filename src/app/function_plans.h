// What is copied of calls of functions that the kernel records.
#pragma once

#include "bpf/engine.h"
#include "capture/limits.h"
#include "pipeline/prototypes.h"
#include "spec/spec.h"
#include "trace/prototype_source.h"

namespace tracer::app {

/// Makes plans by the prototypes that the pipeline shows calls with. `tables` and `source` outlive what it returns.
bpf::PlanFunction function_planner(const spec::Tables& tables, trace::PrototypeSource& source,
                                   capture::CaptureLimits limits);

}  // namespace tracer::app
