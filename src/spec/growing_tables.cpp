#include "spec/growing_tables.h"

#include <algorithm>

namespace tracer::spec {

namespace {

constexpr std::size_t room = 200'000;                     // entries of each kind
constexpr std::size_t text_room = std::size_t{16} << 20;  // bytes

/// Copies with spare capacity, so that the copy can grow without reallocation.
template <typename T>
void copy(std::span<const T> from, std::vector<T>& into) {
  into.reserve(from.size() + room);
  into.assign(from.begin(), from.end());
}

}  // namespace

void GrowingTables::begin() {
  if (begun_) {
    return;
  }
  begun_ = true;
  set_.strings.reserve(tables_.strings.size() + text_room);
  set_.strings = tables_.strings;
  copy(tables_.exprs, set_.exprs);
  set_.expr_lists.assign(tables_.expr_lists.begin(), tables_.expr_lists.end());
  set_.abi_values.assign(tables_.abi_values.begin(), tables_.abi_values.end());
  copy(tables_.constants, set_.constants);
  copy(tables_.groups, set_.groups);
  copy(tables_.sets, set_.sets);
  set_.customs.assign(tables_.customs.begin(), tables_.customs.end());
  copy(tables_.types, set_.types);
  copy(tables_.structs, set_.structs);
  copy(tables_.fields, set_.fields);
  set_.shows.assign(tables_.shows.begin(), tables_.shows.end());
  set_.show_parts.assign(tables_.show_parts.begin(), tables_.show_parts.end());
  set_.choices.assign(tables_.choices.begin(), tables_.choices.end());
  set_.choice_rows.assign(tables_.choice_rows.begin(), tables_.choice_rows.end());
  copy(tables_.params, set_.params);
  copy(tables_.signatures, set_.signatures);
  set_.signature_rows.assign(tables_.signature_rows.begin(), tables_.signature_rows.end());
  copy(tables_.calls, set_.calls);
  set_.redirects.assign(tables_.redirects.begin(), tables_.redirects.end());
  for (std::size_t i = 0; i < abi_count; ++i) {
    set_.numbers[i].assign(tables_.numbers[i].begin(), tables_.numbers[i].end());
  }
  set_.functions.assign(tables_.functions.begin(), tables_.functions.end());
  tables_ = set_.view();
}

template <typename T>
Range GrowingTables::append(std::vector<T>& all, const std::vector<T>& run) {
  begin();
  const Range range{static_cast<Index>(all.size()), static_cast<Index>(run.size())};
  full_ = full_ || all.capacity() - all.size() < run.size();
  if (full_) {
    return {0, 0};
  }
  all.insert(all.end(), run.begin(), run.end());
  tables_ = set_.view();
  return range;
}

StringRef GrowingTables::text(std::string_view text) {
  begin();
  const auto [known, is_new] = texts_.try_emplace(std::string(text), static_cast<StringRef>(set_.strings.size()));
  if (is_new) {
    full_ = full_ || set_.strings.capacity() - set_.strings.size() < text.size() + 1;
    if (full_) {
      texts_.erase(known);
      return 0;
    }
    set_.strings.append(text.substr(0, text.find('\0'))).push_back('\0');
    tables_ = set_.view();
  }
  return known->second;
}

ExprId GrowingTables::literal(std::int64_t value) {
  return append(set_.exprs, {{ExprOp::literal, none, none, value}}).first;
}

ExprId GrowingTables::add(const Expr& expression) {
  return append(set_.exprs, {expression}).first;
}

ExprId GrowingTables::argument(std::size_t param) {
  return append(set_.exprs, {{ExprOp::arg, static_cast<Index>(param), none, 0}}).first;
}

SetId GrowingTables::add(const ConstantSet& set, ConstantGroup group, const std::vector<Constant>& constants) {
  group.constants = append(set_.constants, constants);
  ConstantSet whole = set;
  whole.groups = append(set_.groups, {group});
  return append(set_.sets, {whole}).first;
}

TypeId GrowingTables::add(const Type& type) {
  return append(set_.types, {type}).first;
}

TypeId GrowingTables::add(Struct structure, const std::vector<Field>& fields) {
  const TypeId type = declare_structure();
  define(type, structure, fields);
  return type;
}

TypeId GrowingTables::declare_structure() {
  Type type;
  type.kind = TypeKind::structure;
  type.index = append(set_.structs, {Struct{}}).first;
  return add(type);
}

void GrowingTables::define(TypeId declared, Struct structure, const std::vector<Field>& fields) {
  structure.fields = append(set_.fields, fields);
  if (!full_) {
    set_.types[declared].name = structure.name;
    set_.structs[set_.types[declared].index] = structure;
  }
}

const Call* GrowingTables::add(Call call, Signature signature, const std::vector<Param>& params) {
  signature.params = append(set_.params, params);
  call.signature = append(set_.signatures, {signature}).first;
  const Range added = append(set_.calls, {call});
  return full_ ? nullptr : &set_.calls[added.first];
}

TypeId GrowingTables::pointer_to_custom(std::string_view name) {
  begin();
  const auto is_it = [&](const Type& type) {
    return type.kind == TypeKind::pointer && set_.types[type.target].kind == TypeKind::custom &&
           tables_.text(set_.customs[set_.types[type.target].custom]) == name;
  };
  const auto found = std::find_if(set_.types.begin(), set_.types.end(), is_it);
  return found == set_.types.end() ? none : static_cast<TypeId>(found - set_.types.begin());
}

GrowingTables::Sizes GrowingTables::sizes() const {
  return {tables_.strings.size(), tables_.exprs.size(),      tables_.constants.size(), tables_.groups.size(),
          tables_.sets.size(),    tables_.types.size(),      tables_.structs.size(),   tables_.fields.size(),
          tables_.params.size(),  tables_.signatures.size(), tables_.calls.size()};
}

GrowingTables::Growth GrowingTables::growth_since(const Sizes& before) const {
  const auto added = [](const auto& all, std::size_t first) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  };
  return {std::string(tables_.strings.substr(before.strings)),
          added(tables_.exprs, before.exprs),
          added(tables_.constants, before.constants),
          added(tables_.groups, before.groups),
          added(tables_.sets, before.sets),
          added(tables_.types, before.types),
          added(tables_.structs, before.structs),
          added(tables_.fields, before.fields),
          added(tables_.params, before.params),
          added(tables_.signatures, before.signatures),
          added(tables_.calls, before.calls)};
}

void GrowingTables::add(const Growth& growth) {
  begin();
  full_ = full_ || set_.strings.capacity() - set_.strings.size() < growth.strings.size();
  if (!full_) {
    set_.strings.append(growth.strings);
  }
  append(set_.exprs, growth.exprs);
  append(set_.constants, growth.constants);
  append(set_.groups, growth.groups);
  append(set_.sets, growth.sets);
  append(set_.types, growth.types);
  append(set_.structs, growth.structs);
  append(set_.fields, growth.fields);
  append(set_.params, growth.params);
  append(set_.signatures, growth.signatures);
  append(set_.calls, growth.calls);
}

}  // namespace tracer::spec
