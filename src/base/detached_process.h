// A process of the tracer's own that answers over a socket. It may be ended or abandoned at any time.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/unique_fd.h"

namespace tracer {
inline namespace base {

struct DetachedProcess {
  UniqueFd socket;
  pid_t pid = 0;
};

/// Starts a copy of this process that runs `run(socket)` and ends. It is a grandchild, so that no wait for tracees sees
/// it, in a session of its own, and has nothing open but the socket: not the tracer's output, which somebody waits for
/// the end of. It shall end when the socket is closed. `type`: of socketpair(2). Empty with errno if that fails.
std::optional<DetachedProcess> start_detached(int type, void (*run)(int socket));

}  // namespace base
}  // namespace tracer
