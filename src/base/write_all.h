// Writes a whole buffer to a file descriptor.
#pragma once

#include <string_view>

namespace tracer {
inline namespace base {

/// Writes all bytes to `fd`. Retries after EINTR, and waits after EAGAIN: a parent may have set O_NONBLOCK on a
/// standard error that it shares. Returns 0 or the errno of the write that failed.
[[nodiscard]] int write_all(int fd, std::string_view bytes);

}  // namespace base
}  // namespace tracer
