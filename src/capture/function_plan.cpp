#include "capture/function_plan.h"

#include <set>
#include <string_view>

#include "capture/operations.h"
#include "capture/planner.h"

namespace tracer::capture {

FunctionPlan plan_function(const spec::Tables& tables, Abi abi, const spec::Call& function, CaptureLimits limits) {
  const std::set<std::string_view> no_sockets;
  const PlannerSetting setting{tables, no_sockets, limits};
  FunctionPlan plan;
  plan.entry = plan_call(setting, abi, CapturePhase::entry, function, false).operations;
  plan.exit = plan_call(setting, abi, CapturePhase::exit, function, false).operations;
  if (tables.signatures[function.signature].result != spec::none) {
    const PlannedCapture result = plan_result(setting, abi, function.signature);
    plan.exit.insert(plan.exit.end(), result.operations.begin(), result.operations.end());
  }
  return plan;
}

capture_operation text_at(std::uint8_t slot, std::uint32_t most) {
  capture_operation op = CaptureOperations::operation(capture_text, slot, 0);
  op.most = most;
  return op;
}

capture_operation bytes_at(std::uint8_t slot, std::uint32_t size) {
  capture_operation op = CaptureOperations::operation(capture_block, slot, 0);
  op.most = size;
  return op;
}

capture_operation load_from(std::uint8_t slot, std::uint8_t to, std::uint8_t size) {
  capture_operation op = CaptureOperations::operation(capture_load, slot, 0);
  op.to = to;
  op.width = size;
  return op;
}

}  // namespace tracer::capture
