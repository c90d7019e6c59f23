// Of SceneBuilder: what the expressions of a description want of the values in other places, and how they get it.
#include <algorithm>

#include "scene_builder.h"

namespace tracer::probe {

using spec::ExprOp;
using spec::none;
using spec::Tables;
using spec::TypeKind;

std::optional<std::int64_t> SceneBuilder::literal(spec::ExprId id) const {
  if (id == none) {
    return std::nullopt;
  }
  const spec::Expr& expr = tables_.exprs[id];
  if (expr.op == ExprOp::literal) {
    return expr.value;
  }
  if (expr.op == ExprOp::variable_literal) {
    const std::int64_t value = tables_.abi_values[expr.a + index_of(abi_)];
    return value == spec::absent_key ? std::nullopt : std::optional(value);
  }
  if (expr.op == ExprOp::word) {
    return word_size(abi_);
  }
  if (expr.op == ExprOp::multiply || expr.op == ExprOp::add) {
    const auto a = literal(expr.a);
    const auto b = literal(expr.b);
    return a && b ? std::optional(expr.op == ExprOp::add ? *a + *b : *a * *b) : std::nullopt;
  }
  return std::nullopt;
}

std::uint8_t SceneBuilder::width_of(spec::TypeId id) const {
  const spec::Type& type = tables_.types[id];
  if (type.kind == TypeKind::pointer) {
    return static_cast<std::uint8_t>(type.wide_pointer ? 8 : word_size(abi_));
  }
  if (type.kind == TypeKind::custom && type.target != none) {
    return width_of(type.target);
  }
  return static_cast<std::uint8_t>(type.width != 0 ? type.width : word_size(abi_));
}

std::optional<Place> SceneBuilder::find_outer(spec::StringRef name, const Context* context) const {
  for (; context != nullptr; context = context->user) {
    if (context->structure == nullptr) {
      continue;
    }
    for (const spec::Field& field : Tables::slice(tables_.fields, context->structure->fields)) {
      if (field.name == name) {
        return Place{true, context->address + field.offset[index_of(abi_)], width_of(field.type), {}};
      }
    }
  }
  for (const auto& [id, place] : params_) {
    if (tables_.params[id].name == name) {
      return place;
    }
  }
  return std::nullopt;
}

/// The place whose value decides the expression's; `value`, what the expression shall be, becomes that of the place.
std::optional<Place> SceneBuilder::resolve(spec::ExprId id, const Context* context, std::int64_t& value) {
  if (id == none) {
    return std::nullopt;
  }
  const spec::Expr& expr = tables_.exprs[id];
  switch (expr.op) {
    case ExprOp::arg:
    case ExprOp::deref: {
      const auto found = params_.find(expr.a);
      if (found == params_.end()) {
        return std::nullopt;
      }
      const auto target = pointed_.find(found->second.at);
      const bool through = tables_.types[tables_.params[expr.a].type].kind == TypeKind::pointer;
      if (expr.op == ExprOp::arg || !through) {
        return found->second;
      }
      if (target == pointed_.end()) {
        return std::nullopt;
      }
      return Place{true, target->second, width_of(tables_.types[tables_.params[expr.a].type].target), {}};
    }
    case ExprOp::field:
    case ExprOp::deref_field: {
      if (context == nullptr || context->structure == nullptr) {
        return std::nullopt;
      }
      const spec::Field& field = tables_.fields[expr.a];
      const std::uint32_t address = context->address + field.offset[index_of(abi_)];
      if (expr.op == ExprOp::field) {
        return Place{true, address, width_of(field.type), {}};
      }
      const auto target = pointed_.find(address);
      return target == pointed_.end()
                 ? std::nullopt
                 : std::optional(Place{true, target->second, width_of(tables_.types[field.type].target), {}});
    }
    case ExprOp::outer:
      return find_outer(expr.a, context == nullptr ? nullptr : context->user);
    case ExprOp::param:
      if (context == nullptr || expr.a >= context->args.count) {
        return std::nullopt;
      }
      return resolve(tables_.expr_lists[context->args.first + expr.a], context->user, value);
    case ExprOp::ret:
      scene_.result = std::max(scene_.result, value);
      return std::nullopt;
    case ExprOp::multiply:
      if (const auto factor = literal(expr.b); factor && *factor > 0) {
        value = (value + *factor - 1) / *factor;
      }
      return resolve(expr.a, context, value);
    case ExprOp::add:
    case ExprOp::subtract:
      if (const auto addend = literal(expr.b)) {
        value += expr.op == ExprOp::add ? -*addend : *addend;
      }
      return resolve(expr.a, context, value);
    case ExprOp::bit_and:
    case ExprOp::align:
    case ExprOp::minimum:
      return resolve(expr.a, context, value);
    default:
      return std::nullopt;
  }
}

void SceneBuilder::wish_condition(spec::ExprId id, const Context* context) {
  if (id == none) {
    return;
  }
  const spec::Expr& expr = tables_.exprs[id];
  switch (expr.op) {
    case ExprOp::bit_and:
      if (const auto bits = literal(expr.b)) {
        conditions_.push_back({expr.a, context, *bits, true});
      } else {
        wish_condition(expr.a, context);
        wish_condition(expr.b, context);
      }
      return;
    case ExprOp::bit_or:
      wish_condition(expr.a, context);
      return;
    case ExprOp::equal:
      if (const auto value = literal(expr.b)) {
        const bool masked = tables_.exprs[expr.a].op == ExprOp::bit_and;
        conditions_.push_back({expr.a, context, *value, masked});
      }
      return;
    case ExprOp::greater:
      if (const auto value = literal(expr.b)) {
        lengths_.push_back({expr.a, context, *value + 1, false});
      }
      return;
    default:
      return;
  }
}

void SceneBuilder::fulfil(const Wish& wish) {
  std::int64_t value = wish.value;
  const auto place = resolve(wish.expr, wish.context, value);
  if (!place) {
    return;
  }
  auto bits = static_cast<std::uint64_t>(value);
  if (wish.set_bits && !place->in_memory) {
    bits |= scene_.args[place->at];
  } else if (wish.set_bits) {
    for (const Patch& patch : scene_.patches) {
      if (patch.address == place->at && !patch.at_exit) {
        for (std::size_t i = 0; i < std::min<std::size_t>(patch.bytes.size(), 8); i++) {
          bits |= std::uint64_t{patch.bytes[i]} << (8 * i);
        }
      }
    }
  }
  store(scene_, *place, bits);
}

}  // namespace tracer::probe
