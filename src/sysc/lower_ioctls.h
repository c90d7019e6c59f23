// Computes the numbers of ioctls and lowers the set that names them.
#pragma once

#include <unordered_map>

#include "sysc/lower_structs.h"

namespace tracer::sysc {

/// Returns the bits of an ioctl's number that its name leaves open.
std::uint32_t open_bits_of(const ast::IoctlRow& row);

class IoctlLowering {
 public:
  IoctlLowering(LoweringContext& context, TypeLowering& types, StructLowering& structs)
      : context_(context), types_(types), structs_(structs) {}

  /// Reserves the entry of the set of ioctl numbers.
  void declare();
  /// Lowers the set of the built-in type ioctl_cmd, sorted by number, then by name.
  void lower();
  [[nodiscard]] const AbiValues& numbers_of(const ast::IoctlRow& row) const { return numbers_.at(&row); }
  /// Returns the layout of an argument as its ioctl number encodes it.
  TypeLayout layout_in_number(spec::TypeId id, Position at);

 private:
  AbiValues compute_numbers(const ast::Ioctls& block, const ast::IoctlRow& row);
  [[nodiscard]] spec::Index number_set(const ast::IoctlRow& row);
  [[nodiscard]] spec::ConstantSet set_of(std::vector<spec::Constant> constants);

  LoweringContext& context_;
  TypeLowering& types_;
  StructLowering& structs_;
  std::unordered_map<const ast::IoctlRow*, AbiValues> numbers_;
};

}  // namespace tracer::sysc
