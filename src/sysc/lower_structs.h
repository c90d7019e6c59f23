// Lowers structures, their fields and the tables that choose types, and computes layouts.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sysc/lower_types.h"

namespace tracer::sysc {

/// Sizes by ABI. A variable type has only its fixed part here.
struct TypeLayout {
  std::array<std::uint32_t, abi_count> size{};
  std::array<std::uint8_t, abi_count> align{1, 1, 1, 1, 1};
  bool variable = false;
  bool recursive = false;  ///< it contains itself, which has been reported
};

/// The place where a type is used.
struct TypeUse {
  Position at;
  unsigned open_streams = 0;  ///< number of streams around it
};

/// Returns the FieldId of every field, in memory order. The fields that `print` lists have the first IDs, in its order.
std::vector<spec::FieldId> print_order(const ast::Struct& structure, spec::Index first, Diagnostics& diagnostics);

/// The scalar that consecutive bit-fields share.
struct BitUnit {
  BitUnit() = default;
  BitUnit(const spec::Type& first, const std::array<std::uint32_t, abi_count>& its_offset)
      : width(first.width), used(first.bit_count), offset(its_offset) {}

  /// Whether a field is one of bits for which there is room behind others. System V ABI: the bits of a scalar are
  /// filled from the lowest.
  [[nodiscard]] bool takes(const spec::Type& type) const {
    return used != 0 && type.bit_count != 0 && type.width == width && used + type.bit_count <= 8U * width;
  }

  std::uint8_t width = 0;  ///< in bytes
  unsigned used = 0;       ///< bits; 0: the last field was none of bits
  std::array<std::uint32_t, abi_count> offset{};
};

class StructLowering {
 public:
  StructLowering(LoweringContext& context, ExprLowering& exprs, TypeLowering& types)
      : context_(context), exprs_(exprs), types_(types) {}

  /// Reserves the entries of all structures and fields.
  void declare();
  /// Lowers all structures and tables.
  void lower();
  /// Lowers the structures that the type contains first.
  TypeLayout layout_of(spec::TypeId id, TypeUse use);

 private:
  enum class Progress : std::uint8_t { none, started, done };
  struct Lowered {
    Progress progress = Progress::none;
    unsigned open_streams = 0;  ///< number of streams around it when it was started
  };

  /// Returns whether a type inside itself is inside a stream, whose depth is known only at run time.
  static bool within_stream(const Lowered& lowered, const TypeUse& use) {
    return use.open_streams > lowered.open_streams;
  }
  TypeLayout layout_of_array(const spec::Type& type, TypeUse use);
  TypeLayout layout_of_choice(spec::Index index, TypeUse use);
  /// Returns false for a structure that contains itself, which is reported.
  bool lower_struct(spec::Index index, TypeUse use);
  spec::Field lower_field(const ast::Field& field, const ast::Struct& structure, const Scope& scope);
  Scope scope_of_fields(const ast::Struct& structure, const std::vector<spec::FieldId>& ids);
  void check_names(const ast::Struct& structure, const std::optional<std::vector<ast::Name>>& names,
                   const Scope& scope);
  spec::ShowIndex show_of(const ast::Struct& structure, const Scope& scope);
  void place_bits(spec::Field& field, BitUnit& unit);
  void place_fields(const ast::Struct& structure, spec::Struct& row, const std::vector<spec::FieldId>& ids,
                    unsigned open_streams);
  void lower_table(spec::Index index);

  LoweringContext& context_;
  ExprLowering& exprs_;
  TypeLowering& types_;
  std::vector<Lowered> structs_;
  std::vector<Lowered> tables_;  ///< started: being laid out
};

}  // namespace tracer::sysc
