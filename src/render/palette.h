// Colours for the parts of a line: SGR sequences (ECMA-48), configured as in STRACE_COLORS.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"

namespace tracer::render {

/// In the order of `color_keys`.
enum class Color : std::uint8_t { syscall, argname, argval, call, constant, comment, punct, retval, error };
inline constexpr std::array<std::string_view, 9> color_keys = {"syscall", "argname", "argval", "call", "const",
                                                               "comment", "punct",   "retval", "error"};

class Palette {
 public:
  /// Makes a palette without colours.
  Palette() = default;
  /// Returns the default colours, which are readable on dark and light backgrounds.
  static Palette default_colors();

  /// Changes the colours that `text` names, such as `syscall=01;34:error=31`; an empty value removes the colour.
  /// Returns the items that are invalid, which it ignores.
  std::vector<std::string> change(std::string_view text);

  /// True if any part has a colour.
  [[nodiscard]] bool paints() const { return paints_; }
  [[nodiscard]] std::string_view sgr(Color color) const { return sgr_[static_cast<std::size_t>(color)]; }

 private:
  std::array<std::string, color_keys.size()> sgr_;
  bool paints_ = false;
};

/// Colours all text that is appended to the buffer during its lifetime.
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
  /// Appends the sequence and returns the offset of the content.
  static std::size_t begin(TextBuffer& text, std::string_view sgr);
  void end();

  TextBuffer& text_;
  std::size_t start_;    ///< offset of the sequence
  std::size_t content_;  ///< offset after the sequence; equal to `start_` if there is no colour
};

/// Returns the number of bytes in a line without its SGR sequences.
std::size_t visible_width(std::string_view line);

}  // namespace tracer::render
