// Values that no table can say: the functions behind `custom NAME` of the descriptions.
#pragma once

#include <span>

#include "decode/custom.h"

namespace tracer::decoders {

/// Every custom decoder by its name.
std::span<const decode::Custom> all();

using decode::CustomContext;

// signals.cpp
bool sigset(CustomContext& context);
bool sigreturn(CustomContext& context);
bool interrupted_call(CustomContext& context);
// siginfo.cpp
bool siginfo(CustomContext& context);
// waiting.cpp
bool fd_set(CustomContext& context);
bool select_result(CustomContext& context);
bool poll_result(CustomContext& context);
bool futex_wake_op(CustomContext& context);
// processes.cpp
bool wait_status(CustomContext& context);
bool cpuset(CustomContext& context);
bool ioprio(CustomContext& context);
// sockets.cpp
bool htons(CustomContext& context);
bool htonl(CustomContext& context);
bool sun_path(CustomContext& context);
bool in6_scope(CustomContext& context);
bool hex8(CustomContext& context);
bool octets(CustomContext& context);
bool recvmmsg_result(CustomContext& context);
bool with_name(CustomContext& context);
// flags_and_mode.cpp
bool flags_and_mode(CustomContext& context);

}  // namespace tracer::decoders
