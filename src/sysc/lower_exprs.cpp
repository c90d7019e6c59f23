#include "sysc/lower_exprs.h"

#include <algorithm>

#include "sysc/lower_structs.h"

namespace tracer::sysc {

using spec::ExprOp;
using spec::none;

namespace {

const Scope::Entry* find_entry(const Scope& scope, const std::string& name) {
  const auto found =
      std::find_if(scope.entries.begin(), scope.entries.end(), [&](const auto& entry) { return entry.name == name; });
  return found == scope.entries.end() ? nullptr : &*found;
}

std::optional<spec::Index> find_formal(const Scope& scope, const std::string& name) {
  if (scope.params == nullptr) {
    return std::nullopt;
  }
  const auto found =
      std::find_if(scope.params->begin(), scope.params->end(), [&](const auto& param) { return param.text == name; });
  return found == scope.params->end() ? std::nullopt
                                      : std::optional(static_cast<spec::Index>(found - scope.params->begin()));
}

ExprOp op_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::equal:
      return ExprOp::equal;
    case ast::BinaryOp::not_equal:
      return ExprOp::not_equal;
    case ast::BinaryOp::less:
      return ExprOp::less;
    case ast::BinaryOp::greater:
      return ExprOp::greater;
    case ast::BinaryOp::bit_or:
      return ExprOp::bit_or;
    case ast::BinaryOp::bit_and:
      return ExprOp::bit_and;
    case ast::BinaryOp::add:
      return ExprOp::add;
    case ast::BinaryOp::subtract:
      return ExprOp::subtract;
    case ast::BinaryOp::divide:
      return ExprOp::divide;
    case ast::BinaryOp::shift_right:
      return ExprOp::shift_right;
    default:
      return ExprOp::multiply;
  }
}

}  // namespace

spec::ExprId ExprLowering::lower_optional(const ast::Box<ast::Expr>& expr, const Scope& scope) {
  return expr == nullptr ? none : lower(*expr, scope);
}

spec::ExprId ExprLowering::lower(const ast::Expr& expr, const Scope& scope, const ast::Set* preferred) {
  if (const auto* literal = std::get_if<ast::Literal>(&expr.node)) {
    return context_.builder.literal(literal->value);
  }
  if (const auto* reference = std::get_if<ast::Reference>(&expr.node)) {
    return lower_reference(expr, *reference, scope, preferred);
  }
  if (const auto* pointer = std::get_if<ast::Dereference>(&expr.node)) {
    return lower_pointer_name(expr.at, pointer->name, scope);
  }
  if (const auto* outer = std::get_if<ast::Outer>(&expr.node)) {
    if (!context_.symbols.is_field_or_param(outer->name)) {
      NearMiss near(outer->name);
      context_.symbols.suggest_inner_names(near);
      context_.diagnostics.error(
          expr.at,
          "found ^" + outer->name + ", expected a parameter or field of that name somewhere" + near.suggestion());
    }
    return context_.builder.expr({ExprOp::outer, context_.builder.string(outer->name), none, 0});
  }
  if (const auto* reserved = std::get_if<ast::Reserved>(&expr.node)) {
    return context_.builder.expr({reserved->op, reserved->which, none, 0});
  }
  if (const auto* applied = std::get_if<ast::Applied>(&expr.node)) {
    const auto first = lower(*applied->first, scope);
    const auto second = applied->second != nullptr ? lower(*applied->second, scope) : applied->which;
    return context_.builder.expr({applied->op, first, second, 0});
  }
  return lower_binary(expr, std::get<ast::Binary>(expr.node), scope, preferred);
}

/// Lowers a field of a field, such as `header.nlmsg_type`.
spec::ExprId ExprLowering::lower_member(const ast::Expr& at, const ast::Reference& reference, const Scope& scope) {
  const auto* entry = scope.kind == Scope::Kind::structure ? find_entry(scope, reference.name) : nullptr;
  const Symbol* symbol = entry == nullptr ? nullptr : lookup_.declaration_of(*entry->type);
  const auto* structure = symbol == nullptr ? nullptr : std::get_if<const ast::Struct*>(&symbol->declaration);
  if (structure == nullptr) {
    context_.diagnostics.error(at.at, "found " + reference.name + "." + reference.member +
                                          ", expected a field before '.'" +
                                          " that is a structure; what is outside is written ^" + reference.member);
    return context_.builder.literal(0);
  }
  const auto ids = print_order(**structure, context_.set.structs[symbol->index].fields.first, context_.diagnostics);
  NearMiss near(reference.member);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& name = (*structure)->fields[i].name.text;
    if (name == reference.member) {
      return context_.builder.expr({ExprOp::member, entry->id, ids[i], 0});
    }
    near.consider(name);
  }
  context_.diagnostics.error(
      at.at, "found " + reference.member + ", expected a field of " + (*structure)->name.text + near.suggestion());
  return context_.builder.literal(0);
}

spec::ExprId ExprLowering::lower_binary(const ast::Expr& at, const ast::Binary& binary, const Scope& scope,
                                        const ast::Set* preferred) {
  const ast::Set* left_set = set_of(*binary.left, scope);
  const ast::Set* right_set = set_of(*binary.right, scope);
  const ast::Set* set = left_set != nullptr ? left_set : right_set != nullptr ? right_set : preferred;
  const auto left = lower(*binary.left, scope, set);
  const auto right = lower(*binary.right, scope, set);
  std::array<std::int64_t, abi_count> values{};
  if (binary.op == ast::BinaryOp::shift_left) {
    for (std::size_t i = 0; i < abi_count; ++i) {
      std::int64_t value = 0;
      std::int64_t count = 0;
      const auto abi = static_cast<Abi>(i);
      if (!context_.builder.constant_value(left, abi, value) || !context_.builder.constant_value(right, abi, count) ||
          count < 0 || count > 63) {
        context_.diagnostics.error(at.at, "found '<<' on something that only run time knows, expected constants");
        return left;
      }
      values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << count);
    }
    return context_.builder.literal(values);
  }
  const auto id = context_.builder.expr({op_of(binary.op), left, right, 0});
  bool constant = true;
  for (std::size_t i = 0; i < abi_count && constant; ++i) {
    constant = context_.builder.constant_value(id, static_cast<Abi>(i), values[i]);
  }
  return constant ? context_.builder.literal(values) : id;
}

spec::ExprId ExprLowering::lower_reference(const ast::Expr& at, const ast::Reference& reference, const Scope& scope,
                                           const ast::Set* preferred) {
  if (!reference.member.empty()) {
    return lower_member(at, reference, scope);
  }
  if (const auto* entry = find_entry(scope, reference.name)) {
    if (scope.kind == Scope::Kind::structure && entry->type != nullptr && lookup_.is_chosen(*entry->type)) {
      context_.diagnostics.error(at.at, "found " + reference.name + ", whose type a table chooses, expected a number");
    }
    return context_.builder.expr({scope.kind == Scope::Kind::call ? ExprOp::arg : ExprOp::field, entry->id, none, 0});
  }
  if (const auto number = find_formal(scope, reference.name)) {
    return context_.builder.expr({ExprOp::param, *number, none, 0});
  }
  if (context_.symbols.find_constant(reference.name).empty()) {
    return report_unknown(at.at, reference.name, scope);
  }
  std::array<std::int64_t, abi_count> values{};
  if (const auto* constant = find_constant(at.at, reference.name, preferred)) {
    std::transform(constant->values.begin(), constant->values.end(), values.begin(),
                   [](const auto& value) { return value.value_or(0); });
  }
  return context_.builder.literal(values);
}

spec::ExprId ExprLowering::lower_pointer_name(Position at, const std::string& name, const Scope& scope) {
  const auto* entry = find_entry(scope, name);
  if (entry == nullptr) {
    return report_unknown(at, name, scope);
  }
  const ast::Type* type = entry->type == nullptr ? nullptr : lookup_.resolve(*entry->type);
  if (type != nullptr && !std::holds_alternative<ast::Pointer>(type->node)) {
    context_.diagnostics.error(at, "found *" + name + ", expected a pointer after '*'");
  }
  const ExprOp op = scope.kind == Scope::Kind::call ? ExprOp::deref : ExprOp::deref_field;
  return context_.builder.expr({op, entry->id, none, 0});
}

spec::ExprId ExprLowering::report_unknown(Position at, const std::string& name, const Scope& scope) {
  NearMiss near(name);
  for (const auto& entry : scope.entries) {
    near.consider(entry.name);
  }
  if (scope.params != nullptr) {
    std::for_each(scope.params->begin(), scope.params->end(), [&](const auto& param) { near.consider(param.text); });
  }
  for (const auto* word : {"ret", "ok", "rest", "word", "nth", "option", "all"}) {
    near.consider(word);
  }
  if (near.best().empty()) {
    context_.symbols.suggest_constants(near);
  }
  constexpr std::string_view places[] = {"", "a parameter", "a field", "a parameter of the table"};
  const auto place = std::string(places[static_cast<std::size_t>(scope.kind)]);
  context_.diagnostics.error(
      at, "found " + name + ", expected " + place + (place.empty() ? "" : " or ") + "a constant" + near.suggestion());
  return context_.builder.literal(0);
}

const ast::Set* ExprLowering::set_of(const ast::Expr& expr, const Scope& scope) {
  if (const auto* reference = std::get_if<ast::Reference>(&expr.node)) {
    const auto* entry = find_entry(scope, reference->name);
    return entry == nullptr || entry->type == nullptr ? nullptr : lookup_.set_of(*entry->type);
  }
  if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    const auto* left = set_of(*binary->left, scope);
    return left != nullptr ? left : set_of(*binary->right, scope);
  }
  return nullptr;
}

const ConstantSymbol* ExprLowering::find_constant(Position at, const std::string& name, const ast::Set* preferred) {
  const auto& found = context_.symbols.find_constant(name);
  if (found.empty()) {
    NearMiss near(name);
    context_.symbols.suggest_constants(near);
    context_.diagnostics.error(at, "found " + name + ", expected a constant" + near.suggestion());
    return nullptr;
  }
  const auto own = std::find_if(found.begin(), found.end(), [&](const auto& c) { return c.set == preferred; });
  if (own != found.end()) {
    return &*own;
  }
  const auto other =
      std::find_if(found.begin(), found.end(), [&](const auto& c) { return c.values != found[0].values; });
  if (other != found.end()) {
    const auto place = [](const ConstantSymbol& c) { return c.set == nullptr ? "the ioctls" : c.set->name.text; };
    context_.diagnostics.error(
        at, "found " + name + ", which has one value in " + place(found[0]) + " and another in " + place(*other));
  }
  return &found[0];
}

AbiValues ExprLowering::key_values(const ast::Expr& key, const ast::Set* preferred) {
  AbiValues values;
  if (const auto* literal = std::get_if<ast::Literal>(&key.node)) {
    values.fill(literal->value);
  } else if (const auto* reference = std::get_if<ast::Reference>(&key.node)) {
    if (const auto* constant = find_constant(key.at, reference->name, preferred)) {
      values = constant->values;
    }
  }
  return values;
}

}  // namespace tracer::sysc
