#include "unbuilt.h"

#include "stack/tracer.h"

namespace tracer {

std::optional<std::string> not_built_yet(const cli::Options& options) {
  if (options.format.stack_unwinder == cli::StackUnwinder::libunwind &&
      !stack::has_unwinder(stack::UnwinderChoice::libunwind)) {
    return "--stack-unwinder=libunwind: this build has no libunwind; leave the option out to use libdw";
  }
  return std::nullopt;
}

}  // namespace tracer
