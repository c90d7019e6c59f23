// Writing all of it, whatever the descriptor is and whatever signals come.
#pragma once

#include <string_view>

namespace tracer {
inline namespace base {

/// Writes all bytes to `fd`. Goes on after a signal; waits where the descriptor does not block, such as a standard
/// error that a parent shares and has set O_NONBLOCK on. 0, or errno of what ended it.
[[nodiscard]] int write_all(int fd, std::string_view bytes);

}  // namespace base
}  // namespace tracer
