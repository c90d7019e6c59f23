#include "replay/kept_stacks.h"

namespace tracer::replay {

void KeptStacks::copy_to(Facts& facts) const {
  if (!taken_) {
    return;
  }
  for (const trace::StackFrame& frame : frames_) {
    FrameFact& fact = facts.frames.emplace_back();
    fact.kind = frame.kind;
    fact.file = frame.file;
    fact.symbol = frame.symbol;
    fact.source = frame.source;
    fact.symbol_offset = frame.symbol_offset;
    fact.file_offset = frame.file_offset;
    fact.address = frame.address;
    fact.inlined = frame.inlined;
    fact.line = frame.line;
  }
}

}  // namespace tracer::replay
