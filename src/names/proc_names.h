// The names that snapshots and /proc of the machine that runs the tracees give (-y, -yy, -Y and their like).
#pragma once

#include <utility>

#include "names/names.h"
#include "names/proc_descriptor_names.h"
#include "names/proc_kernel_facts.h"
#include "names/proc_process_names.h"

namespace tracer::names {

class ProcNames {
 public:
  explicit ProcNames(const NameOptions& options, SecurityContexts contexts = {{}, nullptr})
      : descriptors_(options, pids_), processes_(options, pids_), kernel_(options, std::move(contexts), pids_) {}
  ProcNames(const ProcNames&) = delete;
  ProcNames& operator=(const ProcNames&) = delete;

  /// See ProcKernelFacts.
  void set_functions(ProcKernelFacts::FunctionNamer functions) { kernel_.set_functions(std::move(functions)); }
  [[nodiscard]] Names names() { return {descriptors_, processes_, kernel_}; }

 private:
  PidNamespaces pids_;
  ProcDescriptorNames descriptors_;
  ProcProcessNames processes_;
  ProcKernelFacts kernel_;
};

}  // namespace tracer::names
