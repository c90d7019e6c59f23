// Converts types of debugging information (DWARF 5, chapter 5) into types of descriptions.
//
// The file is not trusted: recursive types, endless chains and the number of members are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "debuginfo/targets.h"
#include "spec/growing_tables.h"

namespace tracer::debuginfo {

class TypeReader {
 public:
  /// `word_size` is that of the object, in bytes.
  TypeReader(spec::GrowingTables& into, unsigned word_size, Targets targets)
      : into_(into), word_size_(word_size), targets_(targets) {}

  /// The description of a parameter's type.
  struct Parameter {
    spec::TypeId type = spec::none;
    bool at_exit = false;  ///< the function may write the pointed-to object, so it is shown at the exit
    bool saved = false;    ///< the value at the entry is shown as well
  };
  std::optional<Parameter> parameter(Dwarf_Die type);
  /// Describes a parameter that is passed by reference although its type is not a reference.
  Parameter by_address(Dwarf_Die type);
  /// Describes the address of a string whose length is the parameter with this index.
  Parameter string_of_length(std::size_t parameter_index);
  /// Returns an empty value for a type that descriptions cannot express.
  std::optional<spec::TypeId> result(Dwarf_Die type);
  /// An address whose target is not shown.
  spec::TypeId address();

  /// Sets how many DIEs may be read from now on.
  void set_budget(unsigned dies) { budget_ = dies; }
  /// Takes one DIE off the budget; false if it is used up.
  [[nodiscard]] bool spend() { return budget_ != 0 && budget_-- != 0; }

 private:
  friend class StandardTypes;

  /// A type with its size and alignment in bytes.
  struct Value {
    spec::TypeId id = spec::none;
    std::uint64_t size = 0;
    std::uint8_t alignment = 1;
  };
  struct Peeled {
    Dwarf_Die die{};
    bool is_const = false;
    bool is_void = true;
  };
  struct Members;

  Peeled peel(Dwarf_Die die);
  Peeled target_of(Dwarf_Die die);
  std::optional<Parameter> pointed_to(Peeled target);
  Parameter pointer_to_filled(spec::TypeId target, spec::Direction direction);
  std::optional<Value> value(Dwarf_Die die, unsigned depth);
  std::optional<Value> base(Dwarf_Die die);
  std::optional<Value> floating(std::uint64_t size, std::string_view name);
  std::optional<Value> complex(std::uint64_t size, std::string_view name);
  std::optional<Value> enumeration(Dwarf_Die die);
  std::optional<Value> array(Dwarf_Die die, unsigned depth);
  std::optional<Value> aggregate(Dwarf_Die die, unsigned depth);
  void add_member(Dwarf_Die member, unsigned depth, Members& members);
  std::optional<Value> bit_field(Dwarf_Die member, const Value& storage, std::uint64_t& offset);
  spec::TypeId bytes(std::uint64_t size);
  spec::TypeId string_pointer(spec::Direction direction);
  /// Returns the type of a pointer that is stored in memory or returned.
  spec::TypeId stored_pointer(Dwarf_Die pointer, unsigned depth = 0);
  /// Returns a type for the object that a pointer leads to; empty if only its address is shown.
  std::optional<spec::TypeId> target(Peeled& target, unsigned depth);
  spec::TypeId pointer_to(spec::TypeId target, spec::Direction direction);
  spec::TypeId scalar(std::uint8_t width, bool is_signed, spec::Style style, std::string_view name);
  spec::TypeId cached(spec::TypeId& cache, spec::Style style, std::string_view name);
  /// Empty if it is unknown.
  std::optional<bool> is_passed_by_address(Dwarf_Die die, unsigned depth = 0);
  struct SpecialMembers;
  void add_special_member(Dwarf_Die function, Dwarf_Die object, SpecialMembers& members);
  std::optional<std::uint64_t> count_of(Dwarf_Die array);

  spec::GrowingTables& into_;
  unsigned word_size_;
  Targets targets_;
  unsigned budget_ = 0;  ///< number of DIEs that may still be read
  /// By address of the DIE; empty while it is being read, and for types that cannot be described.
  std::unordered_map<const void*, std::optional<Value>> values_;
  std::unordered_map<const void*, spec::TypeId> structures_;  ///< by address of the DIE; those being read, too
  spec::TypeId address_ = spec::none;
  spec::TypeId code_ = spec::none;
};

}  // namespace tracer::debuginfo
