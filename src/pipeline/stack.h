// Stack traces in the output, and one that has to wait until it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/text_buffer.h"
#include "trace/stack.h"

namespace tracer::pipeline {

/// Frames that stay after the next ones have been asked for.
class KeptStack {
 public:
  void keep(std::span<const trace::StackFrame> frames);
  void clear() {
    frames_.clear();
    text_.clear();
  }
  [[nodiscard]] bool empty() const { return frames_.empty(); }
  [[nodiscard]] std::span<const trace::StackFrame> frames() const { return frames_; }

 private:
  std::vector<trace::StackFrame> frames_;
  std::vector<char> text_;  ///< what they point into; a string might move its characters when it is moved itself
};

/// strace writes a frame without a known function differently where the stack was taken at the entry of the call.
enum class StackTaken : std::uint8_t { now, at_entry };

/// The name of a file or a function, which a tracee chooses, so that it does not command the terminal: what is no
/// printable character in UTF-8 becomes three octal digits.
void append_printable(TextBuffer& text, std::string_view name);

/// A line a frame: ` > /usr/lib/libc.so.6(write+0x10) [0xf8350]`.
void append_stack(TextBuffer& text, std::span<const trace::StackFrame> frames, StackTaken taken);

/// `[{"file":"…","offset":…,…},…]`; pipeline_json.h says what there is.
void append_json_stack(TextBuffer& text, std::span<const trace::StackFrame> frames);

}  // namespace tracer::pipeline
