// What the programs in the kernel copy out of a tracee, made from the descriptions: so that a call can be decoded when
// the tracee is somewhere else already.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/limits.h"
#include "capture/plan.h"
#include "spec/spec.h"

namespace tracer::capture {

struct CapturePlans {
  std::vector<capture_operation> operations;  ///< of all plans, each plan's side by side
  std::vector<capture_plan> by_slot;          ///< index: ABI * numbers_per_abi + number
  std::vector<form_plan> forms;               ///< the hash table; its size is a power of two
};

/// Of the calls of `abis`. More may be copied than a call turns out to need (what all sizes of an ioctl's structure
/// have, say), and never more than largest_block in one piece. What no plan reaches, such as the messages of sendmmsg,
/// decodes as an address.
CapturePlans make_capture_plans(const spec::Tables& tables, AbiMask abis, CaptureLimits limits);

}  // namespace tracer::capture
