// Completions of the command line for shells, made from options.def when the program is built.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracer::cli {

enum class Shell : std::uint8_t { bash, zsh, fish };

/// The script for a shell. `calls` is what may stand in a set of system calls: names and classes.
[[nodiscard]] std::string completions(Shell shell, std::span<const std::string_view> calls);

}  // namespace tracer::cli
