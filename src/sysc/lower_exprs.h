// Lowers expressions: resolves their names and folds constants.
#pragma once

#include <string>

#include "sysc/lowering_context.h"
#include "sysc/type_lookup.h"

namespace tracer::sysc {

class ExprLowering {
 public:
  ExprLowering(LoweringContext& context, TypeLookup& lookup) : context_(context), lookup_(lookup) {}

  /// `preferred`: the set that decides between constants of the same name.
  spec::ExprId lower(const ast::Expr& expr, const Scope& scope, const ast::Set* preferred = nullptr);
  /// Returns `none` for nullptr.
  spec::ExprId lower_optional(const ast::Box<ast::Expr>& expr, const Scope& scope);
  /// Returns the set whose names the expression's value has; nullptr if there is none.
  const ast::Set* set_of(const ast::Expr& expr, const Scope& scope);
  /// Returns the values of a key, a constant or a number. Reports a constant that is not declared.
  AbiValues key_values(const ast::Expr& key, const ast::Set* preferred);
  /// Reports a name that the scope does not have. Returns a placeholder.
  spec::ExprId report_unknown(Position at, const std::string& name, const Scope& scope);

 private:
  spec::ExprId lower_reference(const ast::Expr& at, const ast::Reference& reference, const Scope& scope,
                               const ast::Set* preferred);
  spec::ExprId lower_member(const ast::Expr& at, const ast::Reference& reference, const Scope& scope);
  spec::ExprId lower_binary(const ast::Expr& at, const ast::Binary& binary, const Scope& scope,
                            const ast::Set* preferred);
  spec::ExprId lower_pointer_name(Position at, const std::string& name, const Scope& scope);
  const ConstantSymbol* find_constant(Position at, const std::string& name, const ast::Set* preferred);

  LoweringContext& context_;
  TypeLookup& lookup_;
};

}  // namespace tracer::sysc
