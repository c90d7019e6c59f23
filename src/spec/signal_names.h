// Names of signals, as strace prints them: SIGINT, SIGRTMIN, SIGRT_1 … (signal(7); the same numbers on x86 and Arm).
#pragma once

#include <cstdint>
#include <string_view>

namespace tracer::spec {

/// Highest signal number of the kernel (_NSIG).
inline constexpr int max_signal = 64;

/// Returns "SIGINT" for 2, "SIGRTMIN" for 32, "SIGRT_1" for 33; empty for 0 and for numbers past `max_signal`.
std::string_view signal_name(std::uint64_t number);

}  // namespace tracer::spec
