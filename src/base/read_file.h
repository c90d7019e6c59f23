// Reading files and links that somebody else may have made, or may be changing.
#pragma once

#include <cstddef>
#include <string>

namespace tracer {
inline namespace base {

/// The bytes of a file from its start on, `most` at most; empty if it cannot be opened, short if it cannot be read on.
/// Waits for nobody at the other end of a pipe, and takes no terminal.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t most = std::size_t{1} << 20);

/// What a symbolic link says; empty if it is none or cannot be read. One that is longer than PATH_MAX is cut there.
[[nodiscard]] std::string read_link(const std::string& path);

}  // namespace base
}  // namespace tracer
