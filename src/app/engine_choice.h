// Chooses the engine: the one that --engine names, or the cheapest that can do what the options ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/options.h"
#include "functions/function_tracer.h"
#include "process/engine_options.h"
#include "spec/spec.h"
#include "trace/engine.h"
#include "trace/prototype_source.h"

namespace tracer::app {

struct ChosenEngine {
  std::unique_ptr<trace::Engine> engine;
  std::string name;  ///< as --engine and trace files have it: "ptrace", "bpf", "inprocess"

  /// Whether its times do not include the tracer's own.
  [[nodiscard]] bool in_kernel() const { return name == "bpf"; }
};

/// `complain` takes sentences for the user. An error without a message has been reported already.
/// `prototypes`: of functions that `tables` do not describe; it outlives the engine.
Result<ChosenEngine> choose_engine(const cli::Options& options, process::EngineOptions engine_options,
                                   functions::Options function_options, const spec::Tables& tables,
                                   trace::PrototypeSource& prototypes,
                                   const std::function<void(const std::string&)>& complain);

}  // namespace tracer::app
