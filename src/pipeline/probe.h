// Formats static probes (USDT).
#pragma once

#include "base/text_buffer.h"
#include "trace/memory.h"
#include "trace/static_probe.h"

namespace tracer::pipeline {

/// Appends `provider:name@module(1, 0x7ffe… /* "text" */)`. At most `limit` characters of what an argument points to
/// are shown, if it is text.
void append_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory, unsigned limit);

/// Appends `,"provider":…,"name":…,"module":…,"args":[…]`.
void append_json_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory);

}  // namespace tracer::pipeline
