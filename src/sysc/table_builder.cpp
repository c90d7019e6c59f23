#include "sysc/table_builder.h"

#include <algorithm>
#include <tuple>

namespace tracer::sysc {

namespace {

using spec::ExprOp;

auto members(const spec::Expr& e) {
  return std::make_tuple(e.op, e.a, e.b, e.value);
}

auto members(const spec::Type& t) {
  return std::make_tuple(t.kind, t.name, t.width, t.is_signed, t.style, t.set, t.custom, t.target, t.direction,
                         t.wide_pointer, t.length_kind, t.length, t.budget, t.max, t.hex, t.brief, t.sized_by, t.index,
                         t.args.first, t.args.count, t.bit_offset, t.bit_count);
}

template <typename Tuple>
std::size_t hash_of(const Tuple& tuple) {
  return std::apply(
      [](auto... parts) {
        std::size_t hash = 0;
        ((hash = (hash ^ static_cast<std::size_t>(parts)) * 0x9e3779b97f4a7c15U, hash ^= hash >> 29), ...);
        return hash;
      },
      tuple);
}

}  // namespace

std::size_t TableBuilder::Hash::operator()(const spec::Expr& e) const {
  return hash_of(members(e));
}
std::size_t TableBuilder::Hash::operator()(const spec::Type& t) const {
  return hash_of(members(t));
}
bool TableBuilder::Equal::operator()(const spec::Expr& a, const spec::Expr& b) const {
  return members(a) == members(b);
}
bool TableBuilder::Equal::operator()(const spec::Type& a, const spec::Type& b) const {
  return members(a) == members(b);
}

spec::StringRef TableBuilder::string(std::string_view text) {
  const auto [entry, is_new] =
      strings_.try_emplace(std::string(text), static_cast<spec::StringRef>(set.strings.size()));
  if (is_new) {
    set.strings += text;
    set.strings += '\0';
  }
  return entry->second;
}

spec::ExprId TableBuilder::expr(const spec::Expr& expr) {
  const auto [entry, is_new] = exprs_.try_emplace(expr, next_index(set.exprs));
  if (is_new) {
    set.exprs.push_back(expr);
  }
  return entry->second;
}

spec::ExprId TableBuilder::literal(const std::array<std::int64_t, abi_count>& values) {
  if (std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values[0]; })) {
    return literal(values[0]);
  }
  const auto [entry, is_new] = abi_values_.try_emplace(values, next_index(set.abi_values));
  if (is_new) {
    set.abi_values.insert(set.abi_values.end(), values.begin(), values.end());
  }
  return expr({ExprOp::variable_literal, entry->second, spec::none, 0});
}

spec::Range TableBuilder::expr_list(const std::vector<spec::ExprId>& list) {
  if (list.empty()) {
    return {};
  }
  const auto [entry, is_new] = lists_.try_emplace(list);
  if (is_new) {
    entry->second = append(set.expr_lists, list);
  }
  return entry->second;
}

spec::TypeId TableBuilder::type(const spec::Type& type) {
  const auto [entry, is_new] = types_.try_emplace(type, next_index(set.types));
  if (is_new) {
    set.types.push_back(type);
  }
  return entry->second;
}

spec::CustomId TableBuilder::custom(std::string_view name) {
  const auto [entry, is_new] = customs_.try_emplace(std::string(name), next_index(set.customs));
  if (is_new) {
    set.customs.push_back(string(name));
  }
  return entry->second;
}

spec::Index TableBuilder::show(spec::ShowKind kind, const std::vector<spec::ShowPart>& parts) {
  std::vector<spec::Index> key{static_cast<spec::Index>(kind)};
  for (const auto& part : parts) {
    key.insert(key.end(), {part.text, part.value, part.type, part.condition, part.styled ? 1U : 0U});
  }
  const auto [entry, is_new] = shows_.try_emplace(std::move(key), next_index(set.shows));
  if (is_new) {
    set.shows.push_back({kind, append(set.show_parts, parts)});
  }
  return entry->second;
}

bool TableBuilder::constant_value(spec::ExprId id, Abi abi, std::int64_t& value) const {
  const spec::Expr& e = set.exprs[id];
  if (e.op == ExprOp::literal) {
    value = e.value;
    return true;
  }
  if (e.op == ExprOp::variable_literal) {
    value = set.abi_values[e.a + index_of(abi)];
    return true;
  }
  if (e.op == ExprOp::word) {
    value = word_size(abi);
    return true;
  }
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (e.op < ExprOp::bit_and || !constant_value(e.a, abi, a) || !constant_value(e.b, abi, b)) {
    return false;
  }
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (e.op) {
    case ExprOp::bit_and:
      value = a & b;
      return true;
    case ExprOp::bit_or:
      value = a | b;
      return true;
    case ExprOp::equal:
      value = a == b;
      return true;
    case ExprOp::not_equal:
      value = a != b;
      return true;
    case ExprOp::less:
      value = a < b;
      return true;
    case ExprOp::greater:
      value = a > b;
      return true;
    case ExprOp::add:
      value = static_cast<std::int64_t>(ua + ub);
      return true;
    case ExprOp::subtract:
      value = static_cast<std::int64_t>(ua - ub);
      return true;
    case ExprOp::multiply:
      value = static_cast<std::int64_t>(ua * ub);
      return true;
    case ExprOp::shift_right:
      value = static_cast<std::int64_t>(ub < 64 ? ua >> ub : 0);
      return true;
    default:
      return false;
  }
}

}  // namespace tracer::sysc
