// Static probes in the output.
#pragma once

#include "base/text_buffer.h"
#include "trace/memory.h"
#include "trace/static_probe.h"

namespace tracer::pipeline {

/// `provider:name@module(1, 0x7ffe… /* "text" */)`. What an argument points to shows if it reads as text, of at most
/// `limit` characters.
void append_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory, unsigned limit);

/// `,"provider":…,"name":…,"module":…,"args":[…]`
void append_json_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory);

}  // namespace tracer::pipeline
