// The remaining time that calls with a timeout write back.
#pragma once

#include "decoders/decoders.h"

namespace tracer::decoders {

/// Emits the timespec or timeval at `address`: `{tv_sec=1, tv_usec=0}`. `fraction` names its second part.
void emit_time_left(decode::CustomContext& context, std::uint64_t address, std::string_view fraction);

}  // namespace tracer::decoders
