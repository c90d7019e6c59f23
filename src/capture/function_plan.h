// What to copy at the entry and at the exit of a function of a library.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/limits.h"
#include "capture/plan.h"
#include "spec/spec.h"

namespace tracer::capture {

struct FunctionPlan {
  std::vector<std::uint8_t> words;  ///< which word that can hold an argument each slot holds, from the first slot on
  std::vector<capture_operation> entry;
  std::vector<capture_operation> exit;
};

/// The operations of a function's prototype. The caller says which words its slots hold.
FunctionPlan plan_function(const spec::Tables& tables, Abi abi, const spec::Call& function, CaptureLimits limits);

/// A text that the number in `slot` may point to.
capture_operation text_at(std::uint8_t slot, std::uint32_t most);
/// So many bytes at the address in `slot`.
capture_operation bytes_at(std::uint8_t slot, std::uint32_t size);
/// Loads a number from there into slot `to`.
capture_operation load_from(std::uint8_t slot, std::uint8_t to, std::uint8_t size);

}  // namespace tracer::capture
