// What to copy for one call, or for one form of it. Private to this directory.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "capture/limits.h"
#include "capture/plan.h"
#include "spec/spec.h"

namespace tracer::capture {

enum class CapturePhase : std::uint8_t { entry, exit };

struct PlannerSetting {
  const spec::Tables& tables;
  /// Names of parameters that are descriptors of which somebody asks whether they are netlink sockets.
  const std::set<std::string_view>& sockets;
  CaptureLimits limits;
};

struct PlannedCapture {
  std::vector<capture_operation> operations;
  bool matters_if_failed = false;  ///< some of it shows where the call fails, too
};

/// `forms`: those that a single value chooses have plans of their own, and are left out here.
PlannedCapture plan_call(const PlannerSetting& setting, Abi abi, CapturePhase phase, const spec::Call& call,
                         bool forms);

/// Of the form of a call that a signature describes, whatever chooses between further ones.
PlannedCapture plan_form(const PlannerSetting& setting, Abi abi, CapturePhase phase, spec::Index signature);

/// What the result of a function points to; at the exit.
PlannedCapture plan_result(const PlannerSetting& setting, Abi abi, spec::Index signature);

}  // namespace tracer::capture
