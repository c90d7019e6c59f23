// What the terminal at the other end can do, by terminfo(5).
#pragma once

#include <string>

namespace tracer::app {

/// Whether the descriptor is a terminal with eight colours at least. False if TERM is unknown.
bool is_color_terminal(int fd);
/// The same of what a file name stands for.
bool is_color_terminal(const std::string& path);

/// COLUMNS of the environment, or the width of the terminal on standard input, output or error; 0: unknown.
unsigned terminal_columns();

}  // namespace tracer::app
