#include "pipeline/stack.h"

#include "base/printable.h"
#include "format/json_text.h"

namespace tracer::pipeline {

namespace {

/// Appends a number as `%#lx` does, but zero as 0x0.
void append_offset(TextBuffer& text, std::uint64_t value) {
  text.hex_padded(value, 1);
}

void append_code(TextBuffer& text, const trace::StackFrame& frame, StackTaken taken) {
  append_printable(text, frame.file);
  text.append('(');
  if (frame.inlined) {
    append_printable(text, frame.symbol);
    text.append(" inlined");
  } else if (!frame.symbol.empty() || taken == StackTaken::at_entry) {
    append_printable(text, frame.symbol);
    text.append('+');
    append_offset(text, frame.symbol_offset);
  }
  text.append(") [");
  append_offset(text, frame.file_offset);
  text.append(']');
  if (!frame.source.empty()) {
    text.append(' ');
    append_printable(text, frame.source);
    if (frame.line != 0) {
      text.append(':');
      text.decimal(std::uint64_t{frame.line});
    }
  }
}

void append_member(TextBuffer& text, std::string_view name, std::uint64_t value) {
  text.append(",\"");
  text.append(name);
  text.append("\":");
  format::append_json_integer(text, value);
}

void append_member(TextBuffer& text, std::string_view name, std::string_view value) {
  text.append("\"");
  text.append(name);
  text.append("\":");
  format::append_json_bytes(text, std::as_bytes(std::span(value)), false);
}

}  // namespace

void KeptStack::keep(std::span<const trace::StackFrame> frames) {
  clear();
  std::size_t size = 0;
  for (const trace::StackFrame& frame : frames) {
    size += frame.file.size() + frame.symbol.size() + frame.source.size();
  }
  text_.reserve(size);
  const auto copy = [this](std::string_view& part) {
    const std::size_t start = text_.size();
    text_.insert(text_.end(), part.begin(), part.end());
    part = {text_.data() + start, part.size()};
  };
  frames_.assign(frames.begin(), frames.end());
  for (trace::StackFrame& frame : frames_) {
    copy(frame.file);
    copy(frame.symbol);
    copy(frame.source);
  }
}

void append_stack(TextBuffer& text, std::span<const trace::StackFrame> frames, StackTaken taken) {
  for (const trace::StackFrame& frame : frames) {
    text.append(" > ");
    switch (frame.kind) {
      case trace::StackFrame::Kind::code:
        append_code(text, frame, taken);
        break;
      case trace::StackFrame::Kind::unknown:
        text.append("unexpected_backtracing_error [");
        append_offset(text, frame.address);
        text.append(']');
        break;
      case trace::StackFrame::Kind::limit:
        text.append("too many stack frames");
        break;
      case trace::StackFrame::Kind::cycle:
        text.append("the stack leads back into itself");
        break;
    }
    text.append('\n');
  }
}

void append_json_stack(TextBuffer& text, std::span<const trace::StackFrame> frames) {
  text.append('[');
  for (const trace::StackFrame& frame : frames) {
    text.append(&frame == frames.data() ? "{" : ",{");
    switch (frame.kind) {
      case trace::StackFrame::Kind::code:
        append_member(text, "file", frame.file);
        append_member(text, "offset", frame.file_offset);
        append_member(text, "address", frame.address);
        if (!frame.symbol.empty()) {
          text.append(',');
          append_member(text, "symbol", frame.symbol);
          append_member(text, "symbol_offset", frame.symbol_offset);
        }
        if (frame.inlined) {
          text.append(",\"inlined\":true");
        }
        if (!frame.source.empty()) {
          text.append(',');
          append_member(text, "source", frame.source);
        }
        if (frame.line != 0) {
          append_member(text, "line", std::uint64_t{frame.line});
        }
        break;
      case trace::StackFrame::Kind::unknown:
        text.append("\"unknown\":true");
        append_member(text, "address", frame.address);
        break;
      case trace::StackFrame::Kind::limit:
        text.append("\"end\":\"limit\"");
        break;
      case trace::StackFrame::Kind::cycle:
        text.append("\"end\":\"cycle\"");
        break;
    }
    text.append('}');
  }
  text.append(']');
}

}  // namespace tracer::pipeline
