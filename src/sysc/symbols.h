// The names that a program declares.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sysc/ast.h"
#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// A declared type. `index` counts the declarations of the same kind, in the order of the program.
struct Symbol {
  using Declaration = std::variant<const ast::Alias*, const ast::Set*, const ast::Struct*, const ast::Table*>;
  Declaration declaration;
  spec::Index index = 0;
  Position at;
};

using AbiValues = std::array<std::optional<std::int64_t>, abi_count>;

/// A named value and the set that declares it (nullptr: an ioctl).
struct ConstantSymbol {
  const ast::Set* set = nullptr;
  AbiValues values;
  Position at;
};

class Symbols {
 public:
  /// Collects all declarations. Reports names that are declared twice.
  Symbols(const ast::Program& program, Diagnostics& diagnostics);

  /// Returns nullptr if the name is not declared. Marks it as used.
  [[nodiscard]] const Symbol* find_type(std::string_view name);
  /// Returns all constants of that name; none if it is not declared.
  [[nodiscard]] const std::vector<ConstantSymbol>& find_constant(std::string_view name) const;
  void add_constant(const ast::Name& name, const ConstantSymbol& constant);

  [[nodiscard]] bool is_field_or_param(std::string_view name) const {
    return inner_names_.find(std::string(name)) != inner_names_.end();
  }

  void suggest_types(NearMiss& near) const;
  void suggest_constants(NearMiss& near) const;
  void suggest_inner_names(NearMiss& near) const;

  /// Returns whether the row or name `key` of `of`, a set, a table, a call or `ioctls`, is one that strace does not
  /// have.
  [[nodiscard]] bool is_beyond(const std::string& of, const std::string& key);
  /// Returns whether strace shows the bytes of the attribute `name`, which it may have by that name.
  [[nodiscard]] bool is_beyond_value(const std::string& attributes, const std::string& name);
  /// Reports rows and names of `beyond` that nobody asked for; if there are a user's descriptions, of these only: they
  /// may replace what the built-in ones name.
  void check_beyond(const ast::Program& program, Diagnostics& diagnostics) const;

  /// Warns of types that no other declaration uses.
  void warn_unused(Diagnostics& diagnostics) const;

  std::vector<const ast::Set*> sets;
  std::vector<const ast::Struct*> structs;
  std::vector<const ast::Table*> tables;
  std::vector<const ast::Call*> calls;
  std::vector<const ast::Ioctls*> ioctls;
  std::vector<const ast::Library*> libraries;

 private:
  struct BeyondKey {
    Position at;
    bool found = false;
  };

  void add_item(const ast::Item& item, Diagnostics& diagnostics);
  void declare(const ast::Name& name, Symbol symbol, Diagnostics& diagnostics);
  void add_signature(const ast::Signature& signature);

  std::unordered_map<std::string, Symbol> types_;
  std::unordered_map<std::string, std::vector<ConstantSymbol>> constants_;
  std::unordered_set<std::string> inner_names_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::unordered_map<std::string, BeyondKey>> beyond_;
};

/// Returns a key of a row, a name or a number, as `beyond` has it.
[[nodiscard]] std::string key_text(const ast::Expr& key);

}  // namespace tracer::sysc
