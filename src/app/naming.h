// The names of descriptors, processes and addresses.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "app/wiring.h"
#include "names/proc_names.h"
#include "names/security_contexts.h"
#include "stack/function_names.h"

namespace tracer::app {

/// Builds the names of descriptors, processes and addresses.
class Naming {
 public:
  /// `recorded` answers for the kernel of a recording; null: the kernel of this machine does.
  Naming(const cli::Options& options, names::SecurityContexts contexts, names::KernelFacts* recorded)
      : names_(name_options(options), std::move(contexts)), recorded_(recorded) {
    if (!options.ltrace) {
      names_.set_functions([this](pid_t tid, std::uint64_t address) { return functions_.at(tid, address); });
    }
  }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

  /// The names that -y, -Y and the like ask for.
  [[nodiscard]] names::Names names() {
    const names::Names live = names_.names();
    return {live.descriptors, live.processes, recorded_ == nullptr ? live.kernel : *recorded_};
  }
  /// Names a function that a pointer leads to.
  [[nodiscard]] std::string function_at(pid_t tid, std::uint64_t address) { return functions_.at(tid, address); }
  /// The paths and commands that -P and records need whatever the options say.
  [[nodiscard]] names::Names plain_names() { return plain_names_.names(); }

 private:
  static names::NameOptions plain() {
    names::NameOptions options;
    options.paths = true;
    options.commands = true;
    return options;
  }

  stack::FunctionNames functions_;
  names::ProcNames names_;
  names::ProcNames plain_names_{plain()};
  names::KernelFacts* recorded_;
};

}  // namespace tracer::app
