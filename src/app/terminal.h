// Properties of the terminal, by terminfo(5).
#pragma once

#include <string>

namespace tracer::app {

/// Returns whether the descriptor is a terminal with at least eight colours; false if TERM is unknown.
bool is_color_terminal(int fd);
/// Returns the same for a file.
bool is_color_terminal(const std::string& path);

/// Returns whether the file is a terminal.
bool is_terminal(const std::string& path);

/// Returns COLUMNS of the environment, or the width of the terminal on standard input, output or error; 0: unknown.
unsigned terminal_columns();

/// Returns whether the environment asks for a locale with UTF-8 (LC_ALL, LC_CTYPE, LANG).
bool has_utf8_locale();

}  // namespace tracer::app
