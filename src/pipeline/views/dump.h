// -e read= and -e write=: dumps the data of a call below its line.
#pragma once

#include "base/text_buffer.h"
#include "decode/decoder.h"
#include "filter/number_set.h"
#include "spec/spec.h"
#include "trace/memory.h"

namespace tracer::pipeline::views {

/// A call that has ended.
struct EndedCall {
  const spec::Tables& tables;
  const decode::CallState& state;
  const decode::Outcome& outcome;
  const trace::Memory& memory;
};

/// Appends the dump of `call` if it moves data through a descriptor of the right set.
void dump_call(TextBuffer& text, const EndedCall& call, const filter::NumberSet& reads,
               const filter::NumberSet& writes);

}  // namespace tracer::pipeline::views
