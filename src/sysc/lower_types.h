// Lowers types as written to entries of the table of types.
#pragma once

#include <optional>
#include <string>

#include "sysc/lower_exprs.h"
#include "sysc/lowering_context.h"

namespace tracer::sysc {

/// Returns ", did you mean …?" for a type that is not declared; empty if no name is similar.
std::string type_suggestion(const Symbols& symbols, const std::string& name);
/// Returns the style after `as`. Reports a name that is none.
std::optional<spec::Style> style_named(const ast::Name& name, Diagnostics& diagnostics);

class TypeLowering {
 public:
  TypeLowering(LoweringContext& context, ExprLowering& exprs) : context_(context), exprs_(exprs) {}

  /// `alias_depth`: the number of aliases that lead to the type; an alias defined by itself is reported.
  spec::TypeId lower(const ast::Type& type, const Scope& scope, unsigned alias_depth = 0);
  /// Returns `none` if there is no built-in type of that name.
  spec::TypeId builtin(std::string_view name);
  spec::Index lower_show(const ast::Show& show, const Scope& scope);
  /// Returns the type that stands in for one that is in error or unknown: a word in hexadecimal.
  spec::TypeId fallback();

 private:
  spec::TypeId lower_node(const ast::Named& named, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::TypeId lower_node(const ast::Pointer& pointer, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::TypeId lower_node(const ast::Array& array, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::TypeId lower_node(const ast::Bytes& bytes, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::TypeId lower_node(const ast::Text& text, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::TypeId lower_node(const ast::Custom& custom, const ast::Type& at, const Scope& scope, unsigned alias_depth);
  spec::Range lower_args(const ast::Named& named, std::size_t expected, Position at, const Scope& scope);
  void lower_length(const ast::Length& length, spec::Type& type, const Scope& scope);
  spec::TypeId with_style(spec::TypeId id, const ast::Name& style);
  spec::TypeId with_width(spec::TypeId id, const ast::Name& width);
  spec::TypeId with_bits(spec::TypeId id, const ast::Type& at);
  spec::TypeId with_owner(spec::TypeId id, const ast::Name& name);
  spec::TypeId with_show(spec::TypeId id, const ast::Show& show, const Scope& scope);
  spec::TypeId type_of_set(const Symbol& symbol, const std::string& name);
  [[nodiscard]] std::string text_of(spec::TypeId id) const;

  LoweringContext& context_;
  ExprLowering& exprs_;
};

}  // namespace tracer::sysc
