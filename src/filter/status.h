// The return statuses by which -e status=, -z and -Z select calls.
#pragma once

#include <cstdint>

#include "filter/choice_set.h"

namespace tracer::filter {

enum class CallStatus : std::uint8_t {
  successful,
  failed,
  unfinished,   ///< the thread died or called execve during the call
  unavailable,  ///< the call returned, but its result could not be fetched
  detached,     ///< the tracer detached during the call
};
using StatusSet = ChoiceSet<CallStatus>;

inline constexpr StatusSet every_status = {CallStatus::successful, CallStatus::failed, CallStatus::unfinished,
                                           CallStatus::unavailable, CallStatus::detached};

}  // namespace tracer::filter
