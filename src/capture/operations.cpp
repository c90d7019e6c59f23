#include "capture/operations.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace tracer::capture {

using namespace spec;

namespace {

constexpr std::uint64_t most_more = std::numeric_limits<decltype(capture_operation::more)>::max();

bool same(const capture_operation& a, const capture_operation& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

capture_operation CaptureOperations::operation(capture_kind kind, std::uint8_t base, std::uint32_t offset) {
  capture_operation op{};
  op.kind = kind;
  op.base = base;
  op.offset = offset;
  op.length = slot_none;
  op.width = 8;
  op.count_width = 8;
  op.scale = 1;
  return op;
}

template <typename Wanted>
capture_operation* CaptureOperations::find(const Wanted& wanted) {
  for (std::size_t i = open_from_; i < operations_.size(); ++i) {
    capture_operation& known = operations_[i];
    if (known.kind == capture_each) {
      i += known.body;
    } else if (wanted(known)) {
      return &known;
    }
  }
  return nullptr;
}

void CaptureOperations::add(const capture_operation& op) {
  const auto place = [](const capture_operation& o) {
    return std::tie(o.kind, o.base, o.offset, o.length, o.scale, o.more, o.width, o.to);
  };
  capture_operation* known = find([&](const capture_operation& other) { return place(other) == place(op); });
  if (known != nullptr) {
    known->most = std::max(known->most, op.most);
    return;
  }
  if (operations_.size() < operations_per_plan) {
    operations_.push_back(op);
  }
}

bool CaptureOperations::begin_loop(capture_operation& each) {
  if (next_slot_ >= slot_stack || operations_.size() >= operations_per_plan) {
    return false;
  }
  each.to = next_slot_++;
  operations_.push_back(each);
  return true;
}

void CaptureOperations::end_loop(std::size_t first) {
  capture_operation& each = operations_[first - 1];
  each.body = static_cast<std::uint8_t>(operations_.size() - first);
  next_slot_ = each.to;
  // Several forms of a call may have the same array.
  const std::size_t size = operations_.size() - first + 1;
  const auto begin = operations_.end() - static_cast<std::ptrdiff_t>(size);
  const bool known = std::search(operations_.begin(), begin, begin, operations_.end(), same) != begin;
  if (size == 1 || known) {
    operations_.resize(first - 1);
  }
}

std::uint8_t CaptureOperations::load(std::uint8_t base, std::uint32_t offset, unsigned width) {
  const capture_operation* known = find([&](const capture_operation& other) {
    return other.kind == capture_load && other.base == base && other.offset == offset && other.width == width;
  });
  if (known != nullptr) {
    return known->to;
  }
  if (next_slot_ >= slot_stack || operations_.size() >= operations_per_plan) {
    return slot_none;
  }
  capture_operation op = operation(capture_load, base, offset);
  op.width = static_cast<std::uint8_t>(width);
  op.to = next_slot_++;
  operations_.push_back(op);
  return op.to;
}

std::uint8_t CaptureOperations::slot_of(const Param& param) const {
  const std::uint8_t slot = param.slot[index_of(abi_)];
  return static_cast<std::uint8_t>(slot < slot_result && redirected_ ? slot_first_loaded + slot : slot);
}

std::uint32_t CaptureOperations::size_of(const Type& type) const {
  switch (type.kind) {
    case TypeKind::scalar:
      return bytes_of(type.width, abi_);
    case TypeKind::pointer:
      return pointer_width(type);
    case TypeKind::structure:
      return t_.structs[type.index].layout.size[index_of(abi_)];
    case TypeKind::custom:
      return type.target == none ? 0 : size_of(t_.types[type.target]);
    default:
      return 0;
  }
}

std::optional<CaptureLength> CaptureOperations::of_param(const Param& param, bool through_pointer) {
  const std::uint8_t slot = slot_of(param);
  if (param.type == none || slot >= slots) {
    return std::nullopt;
  }
  const Type& type = t_.types[param.type];
  Length result;
  if (!through_pointer) {
    result.slot = slot;
    result.width = type.kind == TypeKind::scalar ? static_cast<std::uint8_t>(bytes_of(type.width, abi_)) : 8;
    return result;
  }
  const Type& pointee = t_.types[type.target];
  if (type.kind != TypeKind::pointer || pointee.kind != TypeKind::scalar) {
    return std::nullopt;
  }
  return loaded(slot, 0, pointee);
}

std::optional<CaptureLength> CaptureOperations::loaded(std::uint8_t base, std::uint32_t offset, const Type& scalar) {
  Length result;
  result.width = static_cast<std::uint8_t>(bytes_of(scalar.width, abi_));
  result.slot = result.width > 8 ? std::uint8_t{slot_none} : load(base, offset, result.width);
  return result.slot == slot_none ? std::nullopt : std::optional(result);
}

std::optional<CaptureLength> CaptureOperations::of_field(const Field& field, const Scope& scope) {
  const Type& type = t_.types[field.type];
  return type.kind == TypeKind::scalar ? loaded(scope.base, scope.offset + field.offset[index_of(abi_)], type)
                                       : std::nullopt;
}

std::optional<CaptureLength> CaptureOperations::of_outer(StringRef name, const Scope* scope) {
  const auto is_it = [name](const auto& known) { return known.name == name; };
  for (scope = scope == nullptr ? nullptr : scope->outer; scope != nullptr; scope = scope->outer) {
    const auto fields = Tables::slice(t_.fields, scope->fields);
    if (const auto field = std::find_if(fields.begin(), fields.end(), is_it); field != fields.end()) {
      return of_field(*field, *scope);
    }
  }
  const auto params = Tables::slice(t_.params, params_);
  const auto param = std::find_if(params.begin(), params.end(), is_it);
  return param == params.end() ? std::nullopt : of_param(*param, false);
}

std::optional<CaptureLength> CaptureOperations::of_sum(const Expr& sum, const Scope* scope) {
  auto counted = length(sum.a, scope);
  auto constant = length(sum.b, scope);
  if (counted && counted->slot == slot_none) {
    std::swap(counted, constant);
  }
  if (!counted || !constant || constant->slot != slot_none) {
    return std::nullopt;
  }
  if (counted->slot == slot_none) {
    counted->constant = counted->constant * counted->scale + constant->constant * constant->scale;
    counted->scale = 1;
    return counted;
  }
  const std::uint64_t more = counted->more + constant->constant * constant->scale;
  counted->more = static_cast<std::uint8_t>(more);
  return more <= most_more ? counted : std::nullopt;
}

std::optional<CaptureLength> CaptureOperations::multiplied(Length length, std::uint64_t factor) {
  factor = std::max<std::uint64_t>(factor, 1);
  const std::uint64_t more = length.more * factor;
  length.scale *= static_cast<std::uint32_t>(factor);
  length.more = static_cast<std::uint8_t>(more);
  return more <= most_more ? std::optional(length) : std::nullopt;
}

std::optional<CaptureLength> CaptureOperations::length(ExprId id, const Scope* scope) {
  const Expr& e = t_.exprs[id];
  Length result;
  switch (e.op) {
    case ExprOp::literal:
      result.constant = static_cast<std::uint64_t>(e.value);
      return result;
    case ExprOp::variable_literal:
      result.constant = static_cast<std::uint64_t>(t_.abi_values[e.a + index_of(abi_)]);
      return result;
    case ExprOp::word:
      result.constant = word_size(abi_);
      return result;
    case ExprOp::ret:
      return roughly(id);
    case ExprOp::arg:
      return of_param(t_.params[e.a], false);
    case ExprOp::deref:
      return of_param(t_.params[e.a], true);
    case ExprOp::field:
      return scope == nullptr ? std::nullopt : of_field(t_.fields[e.a], *scope);
    case ExprOp::outer:
      return of_outer(e.a, scope);
    case ExprOp::param:
      if (scope == nullptr || e.a >= scope->parameters.count) {
        return std::nullopt;
      }
      return length(t_.expr_lists[scope->parameters.first + e.a], scope->outer);
    case ExprOp::multiply: {
      const auto left = length(e.a, scope);
      const auto right = length(e.b, scope);
      if (!left || !right || (left->slot != slot_none && right->slot != slot_none)) {
        return roughly(id);
      }
      const Length& factor = left->slot != slot_none ? *right : *left;
      return multiplied(left->slot != slot_none ? *left : *right, std::min<std::uint64_t>(factor.constant, block_size));
    }
    case ExprOp::minimum:
      if (auto rough = roughly(id)) {
        return rough;
      }
      return smaller(e, scope);
    case ExprOp::add:
      if (auto sum = of_sum(e, scope)) {
        return sum;
      }
      if (auto rough = roughly(id)) {
        return rough;
      }
      // What the result takes away from the number of elements is not known before.
      return names_result(e.b) ? length(e.a, scope) : std::nullopt;
    default:
      return roughly(id);
  }
}

/// Either of two lengths is enough for the smaller one: a number, or else the one that is known.
std::optional<CaptureLength> CaptureOperations::smaller(const Expr& e, const Scope* scope) {
  const auto left = length(e.a, scope);
  if (left && left->slot == slot_none) {
    return left;
  }
  const auto right = length(e.b, scope);
  return right && (!left || right->slot == slot_none) ? right : left;
}

/// What is made of the result hardly exceeds it.
std::optional<CaptureLength> CaptureOperations::roughly(ExprId id) const {
  return has_result_ && names_result(id) ? std::optional(Length{slot_result, 8, 1, 0}) : std::nullopt;
}

bool CaptureOperations::names_result(ExprId id) const {
  const Expr& e = t_.exprs[id];
  return e.op == ExprOp::ret || (e.op >= ExprOp::align && (names_result(e.a) || names_result(e.b)));
}

}  // namespace tracer::capture
