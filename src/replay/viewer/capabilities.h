// What the terminal has to be sent, and what its keys send, by terminfo(5).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tracer::replay::viewer {

enum class Style : std::uint8_t { plain, reverse, bold, dim, red, yellow };
inline constexpr std::size_t style_count = 6;

enum class Key : std::uint8_t {
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  interrupt,  ///< Ctrl-C
  suspend,    ///< Ctrl-Z
};

struct Capabilities {
  std::string enter;  ///< takes the screen
  std::string leave;
  std::string clear;
  std::string to_line_end;  ///< clears up to it
  std::string normal;       ///< ends all styles
  std::string hide_cursor;
  std::string show_cursor;
  std::string keypad_on;
  std::string keypad_off;
  std::string move;  ///< with parameters: move_to()
  std::array<std::string, style_count> styles;
  std::vector<std::pair<std::string, Key>> keys;

  [[nodiscard]] std::string move_to(std::size_t row, std::size_t column) const;
};

/// Returns those of the terminal behind a descriptor, whose type TERM names. An error says in words why it does not
/// suit.
[[nodiscard]] Result<Capabilities> find_capabilities(int fd, bool colors);

}  // namespace tracer::replay::viewer
