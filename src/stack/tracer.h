// The stack tracer: unwinder, symbols and address spaces together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "spec/spec.h"
#include "stack/unwinder.h"
#include "trace/stack.h"

namespace tracer::stack {

struct Options {
  std::size_t frame_limit = 256;
  bool sources = false;           ///< look for source lines, inlined functions and separate debugging information
  bool follows_children = false;  ///< children and threads of tracees are traced as well
};

std::unique_ptr<trace::StackTracer> make_stack_tracer(const Options& options, const spec::Tables& tables,
                                                      std::unique_ptr<Unwinder> unwinder);

/// Whether the tracer must see this call, whatever is to be shown, to know what is in a process's memory.
bool must_see(Abi abi, std::string_view call);

}  // namespace tracer::stack
