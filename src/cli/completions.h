// Generates the completions of the command line for shells from options.def, at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracer::cli {

enum class Shell : std::uint8_t { bash, zsh, fish };

/// Returns the script for a shell. `calls`: the members of a set of system calls, which are names and classes.
[[nodiscard]] std::string completions(Shell shell, std::span<const std::string_view> calls);

}  // namespace tracer::cli
