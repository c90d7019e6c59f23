#include "decoders/decoders.h"

namespace tracer::decoders {

std::span<const decode::Custom> all() {
  static constexpr decode::Custom customs[] = {
      {"cpuset", cpuset},
      {"fd_set", fd_set},
      {"flags_and_mode", flags_and_mode},
      {"futex_wake_op", futex_wake_op},
      {"interrupted_call", interrupted_call},
      {"ioprio", ioprio},
      {"poll_result", poll_result},
      {"select_result", select_result},
      {"siginfo", siginfo},
      {"sigreturn", sigreturn},
      {"sigset", sigset},
      {"wait_status", wait_status},
  };
  return customs;
}

}  // namespace tracer::decoders
