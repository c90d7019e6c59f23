// Formats what a descriptor stands for beyond its path.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/text_buffer.h"
#include "format/constants.h"
#include "format/escape.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

/// Appends `/dev/null<char 1:3>` or, for a file with a terminal, `/dev/ptmx<char 5:2 @/dev/pts/0>`.
void append_device(TextBuffer& text, const trace::OpenFile& file, const trace::DeviceNumber& device,
                   format::HexStrings hex);

/// Appends `pid:17391<sleep>`, with the name if it is not empty. Returns false, with nothing appended, if the process
/// has been reaped.
bool append_process(TextBuffer& text, const trace::PidfdProcess& process, format::HexStrings hex);

/// Appends `{eventfd-count=1, eventfd-id=7, eventfd-semaphore=0}`, with the names of fdinfo.
void append_counter(TextBuffer& text, const trace::EventCounter& counter);

/// Appends `signalfd:[INT TERM]`.
void append_signals(TextBuffer& text, std::uint64_t signals, format::ConstantForm form);

/// Appends a path or name, escaped for angle brackets.
void append_escaped_name(TextBuffer& text, std::string_view name, format::HexStrings hex);

}  // namespace tracer::names
