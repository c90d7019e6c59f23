// Which calls are shown by how they ended: -e status=, -z, -Z.
#pragma once

#include <cstdint>

#include "filter/choice_set.h"

namespace tracer::filter {

enum class CallStatus : std::uint8_t {
  successful,
  failed,
  unfinished,   ///< the thread died or replaced its program inside the call
  unavailable,  ///< the call returned, but its result could not be fetched
  detached,     ///< tracing ended inside the call
};
using StatusSet = ChoiceSet<CallStatus>;

inline constexpr StatusSet every_status = {CallStatus::successful, CallStatus::failed, CallStatus::unfinished,
                                           CallStatus::unavailable, CallStatus::detached};

}  // namespace tracer::filter
