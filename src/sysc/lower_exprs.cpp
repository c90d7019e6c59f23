#include <algorithm>

#include "sysc/lowering.h"

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
    default:
      return ExprOp::multiply;
  }
}

}  // namespace

spec::ExprId Lowering::lower_optional(const ast::Box<ast::Expr>& expr, const Scope& scope) {
  return expr == nullptr ? none : lower_expr(*expr, scope);
}

spec::ExprId Lowering::lower_expr(const ast::Expr& expr, const Scope& scope, const ast::Set* preferred) {
  if (const auto* literal = std::get_if<ast::Literal>(&expr.node)) {
    return builder_.literal(literal->value);
  }
  if (const auto* reference = std::get_if<ast::Reference>(&expr.node)) {
    return lower_reference(expr, *reference, scope, preferred);
  }
  if (const auto* pointer = std::get_if<ast::Dereference>(&expr.node)) {
    return lower_pointer_name(expr.at, pointer->name, scope, false);
  }
  if (const auto* was = std::get_if<ast::Was>(&expr.node)) {
    return lower_pointer_name(expr.at, was->name, scope, true);
  }
  if (const auto* outer = std::get_if<ast::Outer>(&expr.node)) {
    if (!symbols_.is_field_or_param(outer->name)) {
      NearMiss near(outer->name);
      symbols_.suggest_inner_names(near);
      diagnostics_.error(expr.at, "found ^" + outer->name + ", expected a parameter or field of that name somewhere" +
                                      near.suggestion());
    }
    return builder_.expr({ExprOp::outer, builder_.string(outer->name), none, 0});
  }
  if (const auto* reserved = std::get_if<ast::Reserved>(&expr.node)) {
    return builder_.expr({reserved->op, none, none, 0});
  }
  if (const auto* applied = std::get_if<ast::Applied>(&expr.node)) {
    const auto first = lower_expr(*applied->first, scope);
    return builder_.expr({applied->op, first, lower_optional(applied->second, scope), 0});
  }
  return lower_binary(expr, std::get<ast::Binary>(expr.node), scope, preferred);
}

/// `header.nlmsg_type`: a field of a field.
spec::ExprId Lowering::lower_member(const ast::Expr& at, const ast::Reference& reference, const Scope& scope) {
  const auto* entry = scope.kind == Scope::Kind::structure ? find_entry(scope, reference.name) : nullptr;
  const ast::Type* behind = entry == nullptr ? nullptr : resolve(*entry->type);
  const auto* named = behind == nullptr ? nullptr : std::get_if<ast::Named>(&behind->node);
  const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
  const auto* structure = symbol == nullptr ? nullptr : std::get_if<const ast::Struct*>(&symbol->declaration);
  if (structure == nullptr) {
    diagnostics_.error(at.at, "found " + reference.name + "." + reference.member + ", expected a field before '.'" +
                                  " that is a structure; what is outside is written ^" + reference.member);
    return builder_.literal(0);
  }
  const auto ids = print_order(**structure, set_.structs[symbol->index].fields.first);
  NearMiss near(reference.member);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& name = (*structure)->fields[i].name.text;
    if (name == reference.member) {
      return builder_.expr({ExprOp::member, entry->id, ids[i], 0});
    }
    near.consider(name);
  }
  diagnostics_.error(
      at.at, "found " + reference.member + ", expected a field of " + (*structure)->name.text + near.suggestion());
  return builder_.literal(0);
}

spec::ExprId Lowering::lower_binary(const ast::Expr& at, const ast::Binary& binary, const Scope& scope,
                                    const ast::Set* preferred) {
  const ast::Set* left_set = set_of(*binary.left, scope);
  const ast::Set* right_set = set_of(*binary.right, scope);
  const ast::Set* set = left_set != nullptr ? left_set : right_set != nullptr ? right_set : preferred;
  const auto left = lower_expr(*binary.left, scope, set);
  const auto right = lower_expr(*binary.right, scope, set);
  std::array<std::int64_t, abi_count> values{};
  if (binary.op == ast::BinaryOp::shift_left) {
    for (std::size_t i = 0; i < abi_count; ++i) {
      std::int64_t value = 0;
      std::int64_t count = 0;
      const auto abi = static_cast<Abi>(i);
      if (!builder_.constant_value(left, abi, value) || !builder_.constant_value(right, abi, count) || count < 0 ||
          count > 63) {
        diagnostics_.error(at.at, "found '<<' on something that only run time knows, expected constants");
        return left;
      }
      values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << count);
    }
    return builder_.literal(values);
  }
  const auto id = builder_.expr({op_of(binary.op), left, right, 0});
  bool constant = true;
  for (std::size_t i = 0; i < abi_count && constant; ++i) {
    constant = builder_.constant_value(id, static_cast<Abi>(i), values[i]);
  }
  return constant ? builder_.literal(values) : id;
}

spec::ExprId Lowering::lower_reference(const ast::Expr& at, const ast::Reference& reference, const Scope& scope,
                                       const ast::Set* preferred) {
  if (!reference.member.empty()) {
    return lower_member(at, reference, scope);
  }
  if (const auto* entry = find_entry(scope, reference.name)) {
    if (scope.kind == Scope::Kind::structure && entry->type != nullptr && is_chosen(*entry->type)) {
      diagnostics_.error(at.at, "found " + reference.name + ", whose type a table chooses, expected a number");
    }
    return builder_.expr({scope.kind == Scope::Kind::call ? ExprOp::arg : ExprOp::field, entry->id, none, 0});
  }
  if (const auto number = find_formal(scope, reference.name)) {
    return builder_.expr({ExprOp::param, *number, none, 0});
  }
  if (symbols_.find_constant(reference.name).empty()) {
    return unknown_name(at.at, reference.name, scope);
  }
  std::array<std::int64_t, abi_count> values{};
  if (const auto* constant = find_constant(at.at, reference.name, preferred)) {
    std::transform(constant->values.begin(), constant->values.end(), values.begin(),
                   [](const auto& value) { return value.value_or(0); });
  }
  return builder_.literal(values);
}

spec::ExprId Lowering::lower_pointer_name(Position at, const std::string& name, const Scope& scope, bool was) {
  const auto* entry = find_entry(scope, name);
  if (entry == nullptr) {
    return unknown_name(at, name, scope);
  }
  if (was && scope.kind != Scope::Kind::call) {
    diagnostics_.error(at, "found 'was " + name + "' in a struct, expected it among the parameters of a call");
    return builder_.literal(0);
  }
  const ast::Type* type = entry->type == nullptr ? nullptr : resolve(*entry->type);
  if (!was && type != nullptr && !std::holds_alternative<ast::Pointer>(type->node)) {
    diagnostics_.error(at, "found *" + name + ", expected a pointer after '*'");
  }
  const ExprOp op = was ? ExprOp::was : scope.kind == Scope::Kind::call ? ExprOp::deref : ExprOp::deref_field;
  return builder_.expr({op, entry->id, none, 0});
}

spec::ExprId Lowering::unknown_name(Position at, const std::string& name, const Scope& scope) {
  NearMiss near(name);
  for (const auto& entry : scope.entries) {
    near.consider(entry.name);
  }
  if (scope.params != nullptr) {
    std::for_each(scope.params->begin(), scope.params->end(), [&](const auto& param) { near.consider(param.text); });
  }
  for (const auto* word : {"ret", "ok", "rest", "word", "nth", "full", "all"}) {
    near.consider(word);
  }
  if (near.best().empty()) {
    symbols_.suggest_constants(near);
  }
  constexpr std::string_view places[] = {"", "a parameter", "a field", "a parameter of the table"};
  const auto place = std::string(places[static_cast<std::size_t>(scope.kind)]);
  diagnostics_.error(
      at, "found " + name + ", expected " + place + (place.empty() ? "" : " or ") + "a constant" + near.suggestion());
  return builder_.literal(0);
}

/// Whether it is a table that says what the type is: it then has no value of its own.
bool Lowering::is_chosen(const ast::Type& type, unsigned depth) {
  const ast::Type* behind = resolve(type);
  const auto* named = behind == nullptr ? nullptr : std::get_if<ast::Named>(&behind->node);
  const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
  const auto* table = symbol == nullptr ? nullptr : std::get_if<const ast::Table*>(&symbol->declaration);
  if (table == nullptr) {
    return false;
  }
  // Where all that it chooses from are sets, there is a number whatever it chooses.
  const auto& rows = (*table)->rows;
  return std::any_of(rows.begin(), rows.end(), [&](const ast::TableRow& row) {
    return set_of(row.type) == nullptr && (depth == 0 || is_chosen(row.type, depth - 1) || !is_table(row.type));
  });
}

bool Lowering::is_table(const ast::Type& type) {
  const ast::Type* behind = resolve(type);
  const auto* named = behind == nullptr ? nullptr : std::get_if<ast::Named>(&behind->node);
  const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
  return symbol != nullptr && std::holds_alternative<const ast::Table*>(symbol->declaration);
}

const ast::Set* Lowering::set_of(const ast::Type& type) {
  const ast::Type* behind = resolve(type);
  if (const auto* custom = behind == nullptr ? nullptr : std::get_if<ast::Custom>(&behind->node)) {
    return custom->memory == nullptr ? nullptr : set_of(*custom->memory);
  }
  const auto* named = behind == nullptr ? nullptr : std::get_if<ast::Named>(&behind->node);
  const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
  const auto* set = symbol == nullptr ? nullptr : std::get_if<const ast::Set*>(&symbol->declaration);
  return set == nullptr ? nullptr : *set;
}

const ast::Set* Lowering::set_of(const ast::Expr& expr, const Scope& scope) {
  if (const auto* reference = std::get_if<ast::Reference>(&expr.node)) {
    const auto* entry = find_entry(scope, reference->name);
    return entry == nullptr || entry->type == nullptr ? nullptr : set_of(*entry->type);
  }
  if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    const auto* left = set_of(*binary->left, scope);
    return left != nullptr ? left : set_of(*binary->right, scope);
  }
  return nullptr;
}

const ConstantSymbol* Lowering::find_constant(Position at, const std::string& name, const ast::Set* preferred) {
  const auto& found = symbols_.find_constant(name);
  if (found.empty()) {
    NearMiss near(name);
    symbols_.suggest_constants(near);
    diagnostics_.error(at, "found " + name + ", expected a constant" + near.suggestion());
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
    diagnostics_.error(
        at, "found " + name + ", which has one value in " + place(found[0]) + " and another in " + place(*other));
  }
  return &found[0];
}

AbiValues Lowering::key_values(const ast::Expr& key, const ast::Set* preferred) {
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
