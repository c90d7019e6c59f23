// Makes stack traces from the unwinder, symbols and address spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "debuginfo/reader.h"
#include "spec/spec.h"
#include "stack/unwinder.h"
#include "trace/stack.h"

namespace tracer::stack {

struct Options {
  std::size_t frame_limit = 256;
  bool sources = false;           ///< show source lines and inlined functions, and use separate debugging files
  bool follows_children = false;  ///< children and threads of tracees are traced as well
  debuginfo::Reader::Note note;   ///< receives sentences about files that are too hard to read
};

std::unique_ptr<trace::StackTracer> make_stack_tracer(const Options& options, const spec::Tables& tables,
                                                      std::unique_ptr<Unwinder> unwinder);

/// Whether the stack tracer needs events of this system call, even if they are not shown, to track mappings.
bool must_see(Abi abi, std::string_view call);

}  // namespace tracer::stack
