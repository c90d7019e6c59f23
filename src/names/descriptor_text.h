// How it is written what a descriptor stands for beyond its path.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/text_buffer.h"
#include "trace/capture.h"

namespace tracer::names {

/// `/dev/null<char 1:3>`
void append_device(TextBuffer& text, std::string_view path, const trace::DeviceNumber& device);

/// `pid:17391<sleep>`, with the name if it is not empty; false, with nothing appended, for a process that has gone.
bool append_process(TextBuffer& text, const trace::PidfdProcess& process);

/// Under the kernel's own names: `{eventfd-count=1, eventfd-id=7, eventfd-semaphore=0}`.
void append_counter(TextBuffer& text, const trace::EventCounter& counter);

/// `signalfd:[INT TERM]`
void append_signals(TextBuffer& text, std::uint64_t signals);

/// A path or name as it stands between the angle brackets.
void append_escaped_name(TextBuffer& text, std::string_view name);

}  // namespace tracer::names
