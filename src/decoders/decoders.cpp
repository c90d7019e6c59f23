#include "decoders/decoders.h"

namespace tracer::decoders {

std::span<const decode::Custom> all() {
  static constexpr decode::Custom customs[] = {
      {"bpf_program", bpf_program},
      {"capabilities", capabilities},
      {"clone_flags_and_signal", clone_flags_and_signal},
      {"cpuset", cpuset},
      {"dated", dated},
      {"fd_set", fd_set},
      {"flags_and_mode", flags_and_mode},
      {"futex_wake_op", futex_wake_op},
      {"hex8", hex8},
      {"high_low", high_low},
      {"htonl", htonl},
      {"htons", htons},
      {"hwaddr_data", hwaddr_data},
      {"ifreq_count", ifreq_count},
      {"in6_scope", in6_scope},
      {"interrupted_call", interrupted_call},
      {"ioprio", ioprio},
      {"ipc_call", ipc_call},
      {"kernel_version", kernel_version},
      {"limit", limit},
      {"low_high", low_high},
      {"node_or_error", node_or_error},
      {"nodemask", nodemask},
      {"octets", octets},
      {"page_residence", page_residence},
      {"perf_bits", perf_bits},
      {"perf_hw_cache", perf_hw_cache},
      {"poll_result", poll_result},
      {"quota_command", quota_command},
      {"recvmmsg_result", recvmmsg_result},
      {"second_of_time", second_of_time},
      {"seccomp_program", seccomp_program},
      {"select_result", select_result},
      {"shmat_result", shmat_result},
      {"siginfo", siginfo},
      {"sigreturn", sigreturn},
      {"sigset", sigset},
      {"sun_path", sun_path},
      {"swap_priority", swap_priority},
      {"termios_cc", termios_cc},
      {"termios_flags", termios_flags},
      {"thread_area_entry", thread_area_entry},
      {"user_area", user_area},
      {"user_desc", user_desc},
      {"utime_spec", utime_spec},
      {"wait_status", wait_status},
      {"with_name", with_name},
  };
  return customs;
}

}  // namespace tracer::decoders
