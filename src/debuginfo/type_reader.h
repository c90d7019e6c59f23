// Types of debugging information (DWARF 5, chapter 5), made into those that descriptions have.
//
// A file may claim anything: of types that contain themselves, of endless chains and of too many members as much is
// taken as an honest program has.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "spec/growing_tables.h"

namespace tracer::debuginfo {

class TypeReader {
 public:
  /// `word_size` in bytes, of the object that the types are of.
  TypeReader(spec::GrowingTables& into, unsigned word_size) : into_(into), word_size_(word_size) {}

  /// How a type is taken as a parameter.
  struct Taken {
    spec::TypeId type = spec::none;
    bool at_exit = false;  ///< the function may fill in what it points to
    bool saved = false;    ///< and what it was is shown beside that
  };
  std::optional<Taken> parameter(Dwarf_Die type);
  /// A parameter of which the caller gives the address, though its type does not say so.
  Taken by_address(Dwarf_Die type);
  /// The address of a text that ends after as many characters as parameter number `size` says.
  Taken text_of_size(std::size_t size);
  /// Empty for what no description can say.
  std::optional<spec::TypeId> result(Dwarf_Die type);
  /// Whether a function that returns it is told where to put it, before all parameters, though the description says
  /// that it returns an address.
  bool is_placed_by_caller(Dwarf_Die type);
  /// The address of something, of which no more is shown.
  spec::TypeId address();

  /// How many pieces of debugging information may still be looked at.
  void allow(unsigned pieces) { left_ = pieces; }
  [[nodiscard]] bool spend() { return left_ != 0 && left_-- != 0; }

 private:
  /// A type that stands somewhere, with its size in bytes.
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
  std::optional<Taken> pointed_to(Peeled target);
  std::optional<Value> value(Dwarf_Die die, unsigned depth);
  std::optional<Value> base(Dwarf_Die die);
  std::optional<Value> floating(std::uint64_t size, std::string_view name);
  std::optional<Value> complex(std::uint64_t size, std::string_view name);
  std::optional<Value> enumeration(Dwarf_Die die);
  std::optional<Value> array(Dwarf_Die die, unsigned depth);
  std::optional<Value> aggregate(Dwarf_Die die, unsigned depth);
  Value standard_string(std::uint64_t size);
  void add_member(Dwarf_Die member, unsigned depth, Members& members);
  std::optional<Value> bit_field(Dwarf_Die member, const Value& storage, std::uint64_t& offset);
  spec::TypeId bytes(std::uint64_t size);
  spec::TypeId text_pointer(spec::Direction direction);
  /// What a pointer held in memory shows as.
  spec::TypeId held_pointer(Dwarf_Die pointer);
  spec::TypeId pointer_to(spec::TypeId target, spec::Direction direction);
  spec::TypeId scalar(std::uint8_t width, bool is_signed, spec::Style style, std::string_view name);
  spec::TypeId remembered(spec::TypeId& place, spec::Style style, std::string_view name);
  bool is_passed_by_address(Dwarf_Die die, unsigned depth = 0);
  bool copies(Dwarf_Die constructor, Dwarf_Die object);
  std::optional<std::uint64_t> count_of(Dwarf_Die array);

  spec::GrowingTables& into_;
  unsigned word_size_;
  unsigned left_ = 0;
  std::unordered_map<const void*, std::optional<Value>> known_;  ///< by where they stand; empty: being read, or none
  spec::TypeId address_ = spec::none;
  spec::TypeId code_ = spec::none;
};

}  // namespace tracer::debuginfo
