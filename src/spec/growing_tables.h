// Tables to which descriptions are added while they are in use.
#pragma once

#include <string_view>
#include <unordered_map>

#include "spec/table_set.h"

namespace tracer::spec {

/// Existing entries keep their index and address. The capacity is fixed and more than programs need. When it is used
/// up, is_full() is true and further additions are invalid.
class GrowingTables {
 public:
  /// `tables`: the view that all users share. It and the tables that it refers to must outlive this object.
  explicit GrowingTables(Tables& tables) : tables_(tables) {}
  GrowingTables(const GrowingTables&) = delete;
  GrowingTables& operator=(const GrowingTables&) = delete;

  StringRef text(std::string_view text);
  ExprId literal(std::int64_t value);
  ExprId add(const Expr& expression);
  /// Returns an expression for the argument of parameter number `param` of the call.
  ExprId argument(std::size_t param);
  SetId add(const ConstantSet& set, ConstantGroup group, const std::vector<Constant>& constants);
  TypeId add(const Type& type);
  /// Returns the structure's own type.
  TypeId add(Struct structure, const std::vector<Field>& fields);
  /// Returns the type of a structure that define() describes before the tables are used: pointers to it may come first.
  TypeId declare_structure();
  void define(TypeId declared, Struct structure, const std::vector<Field>& fields);
  /// Adds all entries of `others` except system call numbers. Its functions must be new.
  void add(const TableSet& others);
  const Call* add(Call call, Signature signature, const std::vector<Param>& params);
  /// Returns the type `*custom NAME` if the descriptions contain it, else `none`.
  TypeId pointer_to_custom(std::string_view name);

  /// How many entries there are of each kind that can be added.
  struct Sizes {
    std::size_t strings, exprs, constants, groups, sets, types, structs, fields, params, signatures, calls;
  };
  /// Entries that have been added, to be added to another copy of the same tables.
  struct Growth {
    std::string strings;
    std::vector<Expr> exprs;
    std::vector<Constant> constants;
    std::vector<ConstantGroup> groups;
    std::vector<ConstantSet> sets;
    std::vector<Type> types;
    std::vector<Struct> structs;
    std::vector<Field> fields;
    std::vector<Param> params;
    std::vector<Signature> signatures;
    std::vector<Call> calls;
  };
  [[nodiscard]] Sizes sizes() const;
  [[nodiscard]] Growth growth_since(const Sizes& before) const;
  void add(const Growth& growth);

  [[nodiscard]] bool is_full() const { return full_; }
  /// Returns the view, with all added entries.
  [[nodiscard]] const Tables& tables() const { return tables_; }

 private:
  void begin();
  template <typename T>
  Range append(std::vector<T>& all, const std::vector<T>& run);

  Tables& tables_;
  TableSet set_;
  std::unordered_map<std::string, StringRef> texts_;  ///< texts that were added
  bool begun_ = false;
  bool full_ = false;
};

}  // namespace tracer::spec
