// Converts types of the standard libraries of C++ (libstdc++, libc++) and Rust into what they stand for: strings,
// arrays, values that may be missing, pointers. A type is known by its name and by the members that its library gives
// it.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "debuginfo/type_reader.h"

namespace tracer::debuginfo {

struct StandardShape;

/// A part of a TypeReader.
class StandardTypes {
 public:
  using Value = TypeReader::Value;

  explicit StandardTypes(TypeReader& types) : types_(types), into_(types.into_), word_size_(types.word_size_) {}

  /// Empty for a type that is none of a standard library, or another one's. `size`: its own, in bytes.
  std::optional<Value> read(Dwarf_Die die, std::uint64_t size, unsigned depth);
  /// A string of libstdc++ that a unit only declares, as clang's do.
  Value declared_string();
  /// What a function returns in memory, whatever its size is: it is described as larger than what registers hold.
  Value in_memory(const Value& result);
  /// An integer of 16 bytes: a number if 64 bits hold it, else its two halves.
  Value wide_integer(std::string_view name, bool is_signed);

  /// A parameter of a function in Rust; empty for what Rust passes in a way of its own.
  std::optional<TypeReader::Parameter> rust_parameter(Dwarf_Die type);
  /// Whether it is an array, which Rust, unlike C, passes and returns by value.
  bool is_array(Dwarf_Die type);
  /// Whether Rust returns the type as C would.
  bool is_returned_as_in_c(Dwarf_Die type);

 private:
  /// A member of a type, or of a part of it.
  struct Part {
    Dwarf_Die type{};
    std::uint64_t offset = 0;
  };
  /// Characters or elements, which are elsewhere.
  struct Run {
    std::string_view name;
    std::uint64_t size;    ///< of what says where they are, and how many
    std::uint64_t start;   ///< where in it their address is
    std::uint64_t number;  ///< where in it their number is or, for a range, the address behind them
    Value element;         ///< without a type: characters
    bool is_range;
  };

  /// Offset and size in bytes of the scalars of a structure.
  using Scalars = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  std::optional<Value> read_as(Dwarf_Die die, const StandardShape& shape, std::uint64_t size, unsigned depth);
  std::optional<Part> part_of(Dwarf_Die die, std::string_view name, std::optional<bool> pointer, unsigned depth);
  std::optional<Dwarf_Die> element_of(Dwarf_Die die, Dwarf_Die pointer, bool by_parameter);
  Value pointer_alone(std::string_view name, std::uint64_t size, const Part& part, unsigned depth);
  Value standing_for(std::string_view name, std::uint64_t size, const std::vector<spec::Field>& fields);
  Value run_of(const Run& run);
  Value number_of_elements(std::string_view name, std::uint64_t size, std::uint64_t at);
  Value optional_of(std::string_view name, std::uint64_t size, const Value& value, std::uint64_t at,
                    std::uint64_t engaged_at);
  std::optional<Value> small_text(Dwarf_Die die, std::string_view name, std::uint64_t size);
  void add_elements(Dwarf_Die die, std::uint64_t offset, unsigned depth, std::map<unsigned long, Part>& elements);
  std::optional<Value> tuple(Dwarf_Die die, std::string_view name, std::uint64_t size, unsigned depth);
  std::optional<Value> list_of(std::string_view name, std::uint64_t size, const std::vector<Part>& parts,
                               unsigned depth);

  // Rust: rust_types.cpp
  std::optional<Value> variants(Dwarf_Die die, std::string_view name, std::uint64_t size, unsigned depth);
  std::optional<Value> numbered(Dwarf_Die die, std::string_view name, std::uint64_t size, unsigned depth);
  bool add_scalars(Dwarf_Die type, std::uint64_t offset, unsigned depth, Scalars& scalars);
  bool add_scalars_of_members(Dwarf_Die parent, std::uint64_t offset, unsigned depth, Scalars& scalars);
  bool is_passed_as_in_c(Dwarf_Die type);

  static spec::Field field(spec::StringRef name, spec::TypeId type, std::uint64_t offset, spec::ExprId condition,
                           bool hidden);
  spec::ExprId expression(spec::ExprOp op, spec::Index a, spec::Index b);

  TypeReader& types_;
  spec::GrowingTables& into_;
  unsigned word_size_;
};

}  // namespace tracer::debuginfo
