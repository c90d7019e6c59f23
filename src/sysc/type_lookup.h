// Looks up the declarations that types, as written, refer to.
#pragma once

#include "sysc/ast.h"
#include "sysc/symbols.h"

namespace tracer::sysc {

constexpr unsigned max_alias_depth = 32;

class TypeLookup {
 public:
  explicit TypeLookup(Symbols& symbols) : symbols_(symbols) {}

  /// Returns the type behind aliases; nullptr if an alias is defined by itself.
  const ast::Type* resolve(const ast::Type& type);
  /// Returns the declaration of the type behind aliases; nullptr if it has none.
  const Symbol* declaration_of(const ast::Type& type);
  /// Returns the set whose names the type's values have; nullptr if there is none.
  const ast::Set* set_of(const ast::Type& type);
  /// Returns whether a table chooses the type. Such a field has no value of its own.
  bool is_chosen(const ast::Type& type, unsigned depth = 4);
  /// Returns how an argument occupies registers, by its type or the first alias that declares it.
  ast::Type::Registers registers_of(const ast::Type& type);

 private:
  bool is_table(const ast::Type& type);

  Symbols& symbols_;
};

}  // namespace tracer::sysc
