#include "decode/evaluate.h"

#include <algorithm>

#include "format/constants.h"

namespace tracer::decode {

using spec::Expr;
using spec::ExprOp;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

namespace {

// Arithmetic on tracee data wraps.
std::int64_t wrapping(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

bool Evaluator::mentions_result(spec::ExprId id) const {
  const Expr& e = tables_.exprs[id];
  if (e.op == ExprOp::ret || e.op == ExprOp::ok) {
    return true;
  }
  if (e.op == ExprOp::lookup || e.op == ExprOp::sibling) {
    return mentions_result(e.a);
  }
  return e.op >= ExprOp::align && (mentions_result(e.a) || mentions_result(e.b));
}

Value Evaluator::evaluate(spec::ExprId id, const Context& context) const {
  const Expr& e = tables_.exprs[id];
  switch (e.op) {
    case ExprOp::literal:
      return e.value;
    case ExprOp::variable_literal:
      return tables_.abi_values[e.a + index_of(session_.abi)];
    case ExprOp::arg:
      return argument_value(tables_.params[e.a]);
    case ExprOp::deref: {
      const auto& param = tables_.params[e.a];
      return target_value(tables_.types[param.type], raw_argument(param));
    }
    case ExprOp::field:
      return field_value(e.a, context.scope);
    case ExprOp::deref_field: {
      const auto pointer = field_value(e.a, context.scope);
      return pointer ? target_value(tables_.types[tables_.fields[e.a].type], static_cast<std::uint64_t>(*pointer))
                     : std::nullopt;
    }
    case ExprOp::outer:
      return outer_value(e.a, context.scope);
    case ExprOp::param:
      return context.scope != nullptr && e.a < context.scope->params.size() ? Value(context.scope->params[e.a])
                                                                            : std::nullopt;
    case ExprOp::ret:
      return session_.outcome != nullptr ? Value(session_.outcome->value) : std::nullopt;
    case ExprOp::ok:
      return session_.succeeded() ? 1 : 0;
    case ExprOp::rest:
      return wrapping(context.remaining);
    case ExprOp::word:
      return word_size(session_.abi);
    case ExprOp::nth:
      return wrapping(context.index);
    case ExprOp::option:
      return is_asked_for(static_cast<spec::Option>(e.a)) ? 1 : 0;
    case ExprOp::everything:
      return wrapping(unlimited);
    case ExprOp::it:
      return wrapping(context.it);
    case ExprOp::member: {
      const auto offset = tables_.fields[e.b].offset[index_of(session_.abi)];
      return field_value(e.a, context.scope, offset, &tables_.types[tables_.fields[e.b].type]);
    }
    case ExprOp::lookup: {
      const auto number = evaluate(e.a, context);
      return look_up(static_cast<spec::Lookup>(e.b), number);
    }
    case ExprOp::sibling: {
      const auto kind = evaluate(e.a, context);
      return kind ? sibling_value(static_cast<std::uint64_t>(*kind), context.scope) : std::nullopt;
    }
    default:
      return binary(e, context);
  }
}

bool Evaluator::is_asked_for(spec::Option option) const {
  switch (option) {
    case spec::Option::verbose:
      return !state_.depth.abbreviate;
    case spec::Option::io_uring:
      return session_.setting.options.rings;
    case spec::Option::raw:
      return session_.out.constant_form() == format::ConstantForm::raw;
  }
  return false;
}

Value Evaluator::look_up(spec::Lookup fact, Value number) const {
  switch (fact) {
    case spec::Lookup::netlink_protocol:
      // Messages are structures, which do not show without following pointers; bytes do.
      return number && state_.depth.dereference ? session_.setting.names.descriptors.netlink_protocol(
                                                      session_.task(), static_cast<std::int32_t>(*number))
                                                : -1;
    case spec::Lookup::generic_family:
      return number ? Value(spec::text_number(
                          session_.setting.names.kernel.generic_family(static_cast<std::uint16_t>(*number))))
                    : std::nullopt;
  }
  return std::nullopt;
}

/// Whether it says the same of all memory on an ABI.
bool Evaluator::is_constant(spec::ExprId id) const {
  if (id == spec::none) {
    return false;
  }
  const Expr& e = tables_.exprs[id];
  switch (e.op) {
    case ExprOp::literal:
    case ExprOp::variable_literal:
    case ExprOp::word:
      return true;
    case ExprOp::add:
    case ExprOp::subtract:
    case ExprOp::multiply:
      return is_constant(e.a) && is_constant(e.b);
    default:
      return false;
  }
}

Value Evaluator::binary(const Expr& expr, const Context& context) const {
  const auto left = evaluate(expr.a, context);
  const auto right = evaluate(expr.b, context);
  if (!left || !right) {
    return std::nullopt;
  }
  const auto a = static_cast<std::uint64_t>(*left);
  const auto b = static_cast<std::uint64_t>(*right);
  switch (expr.op) {
    case ExprOp::align:
      return b == 0 ? *left : wrapping((a + b - 1) / b * b);
    case ExprOp::minimum:
      return wrapping(std::min(a, b));
    case ExprOp::bit_and:
      return wrapping(a & b);
    case ExprOp::bit_or:
      return wrapping(a | b);
    case ExprOp::equal:
      return a == b ? 1 : 0;
    case ExprOp::not_equal:
      return a != b ? 1 : 0;
    case ExprOp::less:
      return *left < *right ? 1 : 0;
    case ExprOp::greater:
      return *left > *right ? 1 : 0;
    case ExprOp::add:
      return wrapping(a + b);
    case ExprOp::subtract:
      return wrapping(a - b);
    case ExprOp::multiply:
      return wrapping(a * b);
    case ExprOp::divide:
      return b == 0 ? std::nullopt : Value(wrapping(a / b));
    case ExprOp::shift_right:
      return wrapping(b < 64 ? a >> b : 0);
    default:
      return std::nullopt;
  }
}

/// A field, or what of the given type is `offset` bytes into it.
Value Evaluator::field_value(spec::FieldId field, const Scope* scope, std::uint64_t offset, const Type* type) const {
  for (; scope != nullptr; scope = scope->outer) {
    if (scope->type != nullptr && field - scope->type->fields.first < scope->type->fields.count) {
      const spec::Field& f = tables_.fields[field];
      // What hangs on other fields is not followed: it could hang on itself.
      const bool placed = f.at != spec::none && tables_.exprs[f.at].op == ExprOp::literal;
      const auto begin =
          placed ? static_cast<std::uint64_t>(tables_.exprs[f.at].value) : f.offset[index_of(session_.abi)];
      const auto bits = session_.load(type != nullptr ? *type : tables_.types[f.type], scope->place.at(begin + offset));
      return bits ? Value(wrapping(*bits)) : std::nullopt;
    }
  }
  return std::nullopt;
}

Value Evaluator::outer_value(spec::StringRef name, const Scope* scope) const {
  for (scope = scope != nullptr ? scope->outer : nullptr; scope != nullptr; scope = scope->outer) {
    if (scope->type == nullptr) {
      continue;
    }
    for (spec::FieldId id = scope->type->fields.first; id < scope->type->fields.first + scope->type->fields.count;
         ++id) {
      if (tables_.fields[id].name == name) {
        return field_value(id, scope);
      }
    }
  }
  for (const spec::Param& param : Tables::slice(tables_.params, state_.signature->params)) {
    if (param.name == name) {
      return argument_value(param);
    }
  }
  return std::nullopt;
}

Value Evaluator::target_value(const Type& pointer, std::uint64_t address) const {
  if (pointer.kind != TypeKind::pointer || address == 0) {
    return std::nullopt;
  }
  const Type* target = &tables_.types[pointer.target];
  if (target->kind == TypeKind::array) {
    target = &tables_.types[target->target];
  }
  if (target->kind == TypeKind::structure && tables_.structs[target->index].fields.count != 0) {
    target = &tables_.types[tables_.fields[tables_.structs[target->index].fields.first].type];
  }
  const auto bits = session_.load(*target, Place::remote(RemoteAddr(address)));
  return bits ? Value(wrapping(*bits)) : std::nullopt;
}

/// The start of an attribute of that type, among the first ones of the attributes that are being decoded: as many as
/// any honest message has, so that a long one costs no more than its length. linux/netlink.h: struct nlattr.
Value Evaluator::sibling_value(std::uint64_t kind, const Scope* scope) const {
  constexpr std::size_t most_siblings = 64;
  constexpr std::uint64_t header_size = 4;
  constexpr std::uint64_t type_mask = 0x3fff;
  while (scope != nullptr && scope->series_size == 0) {
    scope = scope->outer;
  }
  if (scope == nullptr) {
    return std::nullopt;
  }
  const ScratchGuard guard(state_.scratch);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < most_siblings && at < scope->series_size; ++i) {
    const auto left = scope->series_size - at;
    const auto header = left >= header_size ? session_.copy(scope->series.at(at), header_size) : std::nullopt;
    if (!header) {
      break;
    }
    const auto word = [&](std::size_t from) {
      return std::to_integer<std::uint64_t>((*header)[from]) | std::to_integer<std::uint64_t>((*header)[from + 1]) << 8;
    };
    const auto length = std::min(word(0), left);
    if (length < header_size) {
      break;
    }
    if ((word(2) & type_mask) == kind) {
      const auto size = std::min<std::uint64_t>(length - header_size, sizeof(std::uint64_t));
      const auto begin = session_.copy(scope->series.at(at + header_size), size);
      return begin ? Value(spec::text_number({reinterpret_cast<const char*>(begin->data()), begin->size()}))
                   : std::nullopt;
    }
    at += (length + header_size - 1) / header_size * header_size;
  }
  return std::nullopt;
}

/// The scalar that a pointer argument pointed to at entry.
Count Evaluator::saved_value(spec::ParamId param) const {
  for (const SavedTarget& saved : state_.saved) {
    if (saved.param == param) {
      const auto& pointer = tables_.types[tables_.params[param].type];
      return session_.load(
          tables_.types[pointer.target],
          Place::copied(std::span(state_.saved_bytes).subspan(saved.offset, saved.size), saved.address));
    }
  }
  return std::nullopt;
}

/// What a field that the call changes was at entry.
Count Evaluator::saved_field(spec::FieldId id, const Scope* scope) const {
  const spec::Field& field = tables_.fields[id];
  while (scope != nullptr && (scope->type == nullptr || id - scope->type->fields.first >= scope->type->fields.count)) {
    scope = scope->outer;
  }
  if (scope == nullptr || field.direction != spec::Direction::inout) {
    return std::nullopt;
  }
  const Type& type = tables_.types[field.type];
  const Place before =
      session_.saved_at(scope->place.address + field.offset[index_of(session_.abi)], session_.size_of(type));
  return before.kind == Place::Kind::copied ? session_.load(type, before) : std::nullopt;
}

std::int64_t Evaluator::argument_value(const spec::Param& param) const {
  const auto raw = raw_argument(param);
  if (param.type == spec::none) {
    return wrapping(raw);
  }
  const Type& type = tables_.types[param.type];
  return wrapping(Session::is_number(type) ? session_.in_register(type, raw)
                                           : session_.load(type, Place::in_register(raw)).value_or(raw));
}

std::optional<std::uint64_t> Evaluator::argument_named(std::string_view name) const {
  const auto found = parameter_named(name);
  return found ? std::optional(found->value) : std::nullopt;
}

std::optional<Evaluator::NamedParameter> Evaluator::parameter_named(std::string_view name) const {
  if (state_.signature != nullptr) {
    for (const spec::Param& param : Tables::slice(tables_.params, state_.signature->params)) {
      if (tables_.text(param.name) == name) {
        return NamedParameter{static_cast<std::uint64_t>(argument_value(param)),
                              param.type != spec::none ? &tables_.types[param.type] : nullptr};
      }
    }
  }
  return std::nullopt;
}

Count Evaluator::length(const Type& type, const Context& context) const {
  std::uint64_t n = unlimited;
  if (type.length != spec::none) {
    const auto said = evaluate(type.length, context);
    if (!said) {
      return std::nullopt;
    }
    n = static_cast<std::uint64_t>(*said);
    // Where the tracee says how much room there is and the call how much there would be, the smaller counts.
    const auto& expr = tables_.exprs[type.length];
    if (expr.op == spec::ExprOp::deref) {
      n = std::min(n, saved_value(expr.a).value_or(unlimited));
    } else if (expr.op == spec::ExprOp::field) {
      n = std::min(n, saved_field(expr.a, context.scope).value_or(unlimited));
    }
  }
  if (type.budget != spec::none) {
    const auto index = tables_.exprs[type.budget].a;
    for (const Scope* s = context.scope; s != nullptr; s = s->outer) {
      if (index < s->params.size()) {
        const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(s->params[index], 0));
        n = std::min(n, left);
        s->params[index] = left == unlimited ? s->params[index] : static_cast<std::int64_t>(left - n);
        break;
      }
    }
  }
  return type.max != 0 ? std::min<std::uint64_t>(n, type.max) : n;
}

bool Evaluator::says_more(const Type& type, const Context& context) const {
  const auto said = type.max != 0 && type.length != spec::none ? evaluate(type.length, context) : std::nullopt;
  return said && static_cast<std::uint64_t>(*said) > type.max;
}

std::span<std::int64_t> Evaluator::evaluate_params(spec::Range args, const Context& context) const {
  if (args.count == 0) {
    return {};
  }
  const auto bytes = state_.scratch.take(args.count * sizeof(std::int64_t));
  const std::span params(reinterpret_cast<std::int64_t*>(bytes.data()), args.count);
  const auto expressions = Tables::slice(tables_.expr_lists, args);
  for (std::size_t i = 0; i < params.size(); ++i) {
    params[i] = evaluate(expressions[i], context).value_or(0);
  }
  return params;
}

/// The row of a table that its values choose; nullptr: none.
const Type* Evaluator::chosen(const Type& type, const Context& inner) const {
  const spec::Choice& table = tables_.choices[type.index];
  for (const spec::ChoiceRow& row : Tables::slice(tables_.choice_rows, table.rows)) {
    bool matches = true;
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      if (row.keys[i] == spec::none) {
        continue;
      }
      const auto key = evaluate(row.keys[i], inner);
      const auto& params = inner.scope->params;
      matches = matches && key && i < params.size() && *key == params[i];
    }
    matches = matches && (!row.whole || inner.remaining >= session_.least_of(tables_.types[row.type]));
    if (matches) {
      return row.type == spec::none ? nullptr : &tables_.types[row.type];
    }
  }
  return nullptr;
}

}  // namespace tracer::decode
