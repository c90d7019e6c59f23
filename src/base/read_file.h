// Reads files and symbolic links that other processes may create or change at any time.
#pragma once

#include <cstddef>
#include <string>

namespace tracer {
inline namespace base {

/// Returns the first `max_size` bytes of a file, or fewer after a read error; empty if it cannot be opened. Opens with
/// O_NONBLOCK and O_NOCTTY, so that a FIFO does not block and a terminal does not become the controlling one.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t max_size = std::size_t{1} << 20);

/// The same for an open file, from where it is read next.
[[nodiscard]] std::string read_descriptor(int file, std::size_t max_size = std::size_t{1} << 20);

/// Returns the target of a symbolic link, cut after PATH_MAX bytes; empty if readlink(2) fails.
[[nodiscard]] std::string read_link(const std::string& path);

}  // namespace base
}  // namespace tracer
