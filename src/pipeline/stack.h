// Formats stack traces, and stores one until it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/text_buffer.h"
#include "trace/stack.h"

namespace tracer::pipeline {

/// A copy of frames, which stays valid when others are unwound.
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
  std::vector<char> text_;  ///< the texts of the frames; a std::string might move its characters when it is moved
};

/// strace takes the stack of a call at its entry, but for the execve that starts the program, and then writes a frame
/// without a known function in another way.
enum class StackTaken : std::uint8_t { now, at_entry };

/// Appends one line for each frame: ` > /usr/lib/libc.so.6(write+0x10) [0xf8350]`.
void append_stack(TextBuffer& text, std::span<const trace::StackFrame> frames, StackTaken taken);

/// Appends `[{"file":"…","offset":…,…},…]`; views/json.h lists the members.
void append_json_stack(TextBuffer& text, std::span<const trace::StackFrame> frames);

}  // namespace tracer::pipeline
