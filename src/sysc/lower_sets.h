// Lowers enums and flags to sets of constants.
#pragma once

#include <cstdint>
#include <vector>

#include "sysc/lowering_context.h"

namespace tracer::sysc {

/// Calls `add(value, mask)` once for each value, with the ABIs that have it.
template <typename Add>
void for_each_value(const AbiValues& values, Add add) {
  AbiMask seen = 0;
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (!values[i] || (seen >> i & 1) != 0) {
      continue;
    }
    AbiMask mask = 0;
    for (std::size_t j = i; j < abi_count; ++j) {
      if (values[j] == values[i]) {
        mask = static_cast<AbiMask>(mask | 1U << j);
      }
    }
    seen = static_cast<AbiMask>(seen | mask);
    add(static_cast<std::uint64_t>(*values[i]), mask);
  }
}

class SetLowering {
 public:
  explicit SetLowering(LoweringContext& context) : context_(context) {}

  void lower();

 private:
  void lower_set(const ast::Set& set, spec::ConstantSet& row);
  void gather_groups(const ast::Set& set, std::vector<ast::Group>& groups, unsigned depth);
  void add_constants(const std::string& set, const ast::Member& member, std::vector<spec::Constant>& constants);

  LoweringContext& context_;
};

}  // namespace tracer::sysc
