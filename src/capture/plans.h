// The capture plans of all calls, as a recorder looks them up: see plan.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/limits.h"
#include "capture/plan.h"
#include "spec/spec.h"

namespace tracer::capture {

using Arguments = std::array<std::uint64_t, most_arguments>;

struct CapturePlans {
  std::vector<capture_operation> operations;  ///< of all plans, each plan's side by side
  std::vector<capture_plan> by_slot;          ///< index: ABI * numbers_per_abi + number
  std::vector<form_plan> forms;               ///< the hash table; its size is a power of two

  /// The plan of a call, or of the form of it that its arguments choose. `number` is below numbers_per_abi.
  [[nodiscard]] const capture_plan& choose(Abi abi, std::uint32_t number, const Arguments& arguments) const;
  /// The plan of the form that a value of the chooser chooses; null: it has none of its own.
  [[nodiscard]] const capture_plan* form(Abi abi, std::uint32_t number, std::uint32_t value) const;

  [[nodiscard]] std::span<const capture_operation> at_entry(const capture_plan& plan) const {
    return std::span(operations).subspan(plan.entry_first, plan.entry_count);
  }
  [[nodiscard]] std::span<const capture_operation> at_exit(const capture_plan& plan) const {
    return std::span(operations).subspan(plan.exit_first, plan.exit_count);
  }
};

/// Makes the plans of the calls of `abis`. A plan may copy more than a call turns out to need (what all sizes of an
/// ioctl's structure have, say), but never more than largest_block at one place. What no plan reaches decodes as an
/// address.
CapturePlans make_capture_plans(const spec::Tables& tables, AbiMask abis, CaptureLimits limits);

}  // namespace tracer::capture
