// A seccomp filter that lets unwanted calls pass without a stop.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <vector>

#include "ptrace/call_recorder.h"
#include "ptrace/stopped_thread.h"
#include "trace/engine.h"

namespace tracer::ptrace {

/// The data that our filter gives to SECCOMP_RET_TRACE. Any other value comes from a filter of the program's own.
constexpr std::uint16_t our_filter_data = 0x7ace;

/// The program, or nothing where it would be useless (every call is wanted) or the kernel has no such filters.
/// Besides the wanted calls it traps those that install another filter (see installs_filter()) and those that make a
/// child with CLONE_UNTRACED, or may (untraced_clones.cpp).
/// `commands`: which of the wanted calls pass, except with these commands.
/// With `exemption` it lets the calls pass that this names, and is of use even where every call is wanted.
std::vector<sock_filter> make_seccomp_filter(const trace::WantedCalls& wanted,
                                             const trace::WantedCommands& commands = {},
                                             const std::optional<Exemption>& exemption = std::nullopt);

/// Whether this call gives the thread a filter of its own. Where that one denies a call, the kernel heeds it before it
/// asks us, and we would not see a call that was wanted: such a thread has to stop at every call from then on.
bool installs_filter(const CallState& entry);

}  // namespace tracer::ptrace
