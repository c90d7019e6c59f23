#include "decoders/decoders.h"

namespace tracer::decoders {

std::span<const decode::Custom> all() {
  static constexpr decode::Custom customs[] = {
      {"cpuset", cpuset},
      {"fd_set", fd_set},
      {"flags_and_mode", flags_and_mode},
      {"futex_wake_op", futex_wake_op},
      {"hex8", hex8},
      {"htonl", htonl},
      {"htons", htons},
      {"in6_scope", in6_scope},
      {"interrupted_call", interrupted_call},
      {"ioprio", ioprio},
      {"octets", octets},
      {"poll_result", poll_result},
      {"recvmmsg_result", recvmmsg_result},
      {"select_result", select_result},
      {"siginfo", siginfo},
      {"sigreturn", sigreturn},
      {"sigset", sigset},
      {"sun_path", sun_path},
      {"wait_status", wait_status},
      {"with_name", with_name},
  };
  return customs;
}

}  // namespace tracer::decoders
