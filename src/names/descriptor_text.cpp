#include "names/descriptor_text.h"

#include <span>

#include "format/signal_sets.h"
#include "spec/signal_names.h"

namespace tracer::names {

void append_device(TextBuffer& text, const trace::OpenFile& file, const trace::DeviceNumber& device,
                   format::HexStrings hex) {
  append_escaped_name(text, file.link, hex);
  text.append(device.is_block ? "<block " : "<char ");
  text.decimal(std::uint64_t{device.major});
  text.append(':');
  text.decimal(std::uint64_t{device.minor});
  if (file.terminal) {
    text.append(" @/dev/pts/");
    text.decimal(std::uint64_t{*file.terminal});
  }
  text.append('>');
}

bool append_process(TextBuffer& text, const trace::PidfdProcess& process, format::HexStrings hex) {
  if (process.id < 0) {
    return false;
  }
  text.append("pid:");
  text.decimal(std::int64_t{process.id});
  if (!process.command.empty()) {
    text.append('<');
    append_escaped_name(text, process.command, hex);
    text.append('>');
  }
  return true;
}

void append_counter(TextBuffer& text, const trace::EventCounter& counter) {
  text.append("{eventfd-count=");
  text.hex(counter.count);
  if (counter.id) {
    text.append(", eventfd-id=");
    text.decimal(std::uint64_t{*counter.id});
  }
  if (counter.is_semaphore) {
    text.append(*counter.is_semaphore ? ", eventfd-semaphore=1" : ", eventfd-semaphore=0");
  }
  text.append('}');
}

void append_signals(TextBuffer& text, std::uint64_t signals, format::ConstantForm form) {
  text.append("signalfd:");
  format::append_signal_set(text, signals, spec::max_signal, form);
}

void append_escaped_name(TextBuffer& text, std::string_view name, format::HexStrings hex) {
  format::append_string(text, std::as_bytes(std::span(name)), hex, "<>");
}

}  // namespace tracer::names
