// Colours of the parts of a line: SGR sequences (ECMA-48), as STRACE_COLORS names them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"

namespace tracer::render {

/// The order is that of `color_keys`.
enum class Color : std::uint8_t { syscall, argname, argval, call, constant, comment, punct, retval, error };
inline constexpr std::array<std::string_view, 9> color_keys = {"syscall", "argname", "argval", "call", "const",
                                                               "comment", "punct",   "retval", "error"};

class Palette {
 public:
  /// No colours at all.
  Palette() = default;
  /// The usual colours: readable on dark and light backgrounds.
  static Palette usual();

  /// `syscall=01;34:error=31`: these colours instead of what was there; an empty one is none. What is no such thing is
  /// left out and returned.
  std::vector<std::string> change(std::string_view text);

  /// Whether there is any colour.
  [[nodiscard]] bool paints() const { return paints_; }
  [[nodiscard]] std::string_view sgr(Color color) const { return sgr_[static_cast<std::size_t>(color)]; }

 private:
  std::array<std::string, color_keys.size()> sgr_;
  bool paints_ = false;
};

/// While it lives, what is appended to the buffer has the colour.
class Brush {
 public:
  Brush(TextBuffer& text, const Palette& palette, Color color)
      : text_(text), start_(text.size()), content_(palette.paints() ? begin(text, palette.sgr(color)) : start_) {}
  ~Brush() {
    if (content_ != start_) {
      end();
    }
  }
  Brush(const Brush&) = delete;
  Brush& operator=(const Brush&) = delete;

 private:
  /// Returns where the content starts.
  static std::size_t begin(TextBuffer& text, std::string_view sgr);
  void end();

  TextBuffer& text_;
  std::size_t start_;    ///< before the sequence
  std::size_t content_;  ///< behind it; equal to `start_`: no colour
};

/// Characters that a terminal shows of a line, whatever its colours.
std::size_t visible_width(std::string_view line);

}  // namespace tracer::render
