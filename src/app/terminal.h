// Properties of the terminal, by terminfo(5), and what the user wants of it.
#pragma once

#include <functional>
#include <string>

#include "cli/options.h"

namespace tracer::app {

/// Returns whether the descriptor is a terminal with at least eight colours; false if TERM is unknown.
bool is_color_terminal(int fd);
/// Returns the same for a file.
bool is_color_terminal(const std::string& path);

/// Returns whether output is to have colours: as --color says, or where it is automatic, if `is_color_terminal` returns
/// true and NO_COLOR is not set to anything (no-color.org). TERM=dumb is a terminal without colours.
bool wants_colors(cli::Color color, const std::function<bool()>& is_color_terminal);

/// Returns whether the file is a terminal.
bool is_terminal(const std::string& path);

/// Returns COLUMNS of the environment, or the width of the terminal on standard input, output or error; 0: unknown.
unsigned terminal_columns();

/// Returns whether the environment asks for a locale with UTF-8 (LC_ALL, LC_CTYPE, LANG).
bool has_utf8_locale();

}  // namespace tracer::app
