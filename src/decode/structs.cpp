// Structs and unions: one read, then every field from the copy.
#include <algorithm>
#include <utility>

#include "decode/walker.h"

namespace tracer::decode {

using spec::Direction;
using spec::Field;
using spec::Struct;
using spec::StructKind;
using spec::Tables;
using spec::Type;

namespace {

/// More than any struct has; a stream's record may claim anything.
constexpr std::uint64_t max_struct_size = 64 * 1024;

}  // namespace

std::span<std::int64_t> Walker::evaluate_params(spec::Range args, const Scope* scope) {
  if (args.count == 0) {
    return {};
  }
  const auto bytes = state_.scratch.take(args.count * sizeof(std::int64_t));
  const std::span params(reinterpret_cast<std::int64_t*>(bytes.data()), args.count);
  const auto expressions = Tables::slice(tables_.expr_lists, args);
  for (std::size_t i = 0; i < params.size(); ++i) {
    params[i] = evaluate(expressions[i], scope).value_or(0);
  }
  return params;
}

/// With less than this there is nothing to show.
std::uint64_t Walker::size_of_first_field(const Struct& layout) const {
  return layout.fields.count != 0 ? size_of(tables_.types[tables_.fields[layout.fields.first].type]) : 0;
}

bool Walker::structure(const Type& type, const Place& place, const Scope* scope, std::span<std::int64_t> params) {
  const Struct& layout = tables_.structs[type.index];
  if (place.kind == Place::Kind::reg) {
    return false;
  }
  if (layout.kind == StructKind::stream) {
    return records(type, place, scope, rest_);
  }
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = scope;
  inner.type = &layout;
  inner.params = params;
  std::uint64_t available = rest_;
  if (layout.sized_by != spec::none) {
    inner.place = place;
    const auto said = evaluate(layout.sized_by, &inner);
    if (!said) {
      return false;
    }
    available = std::min(available, static_cast<std::uint64_t>(*said));
  }
  if (available < std::max<std::uint64_t>(layout.min_size, size_of_first_field(layout))) {
    return false;
  }
  const std::uint64_t full = layout.layout.size[index_of(abi_)];
  std::uint64_t wanted = std::min(full, available);
  if (layout.variable && available != unlimited) {
    wanted = std::min(available, max_struct_size);
  }
  const auto read = copy(place, wanted);
  if (!read) {
    return false;
  }
  inner.place = Place::copied(*read, place.address);
  const auto enclosing_rest = rest_;
  fields(inner, available);
  rest_ = enclosing_rest;
  return true;
}

/// A record of a stream, all of it copied.
void Walker::record_body(const Type& type, const Place& place, const Scope* scope, std::span<std::int64_t> params) {
  Scope inner;
  inner.outer = scope;
  inner.type = &tables_.structs[type.index];
  inner.place = place;
  inner.params = params;
  const auto enclosing_rest = rest_;
  fields(inner, place.bytes.size());
  rest_ = enclosing_rest;
}

void Walker::fields(const Scope& scope, std::uint64_t available) {
  // Unless these are shown as the enclosing struct's own.
  const bool braces = std::exchange(inlined_, {}).empty();
  braces ? out_.begin_struct() : void();
  const bool brief = scope.type->has_brief && state_.depth.abbreviate;
  bool left_out = brief;
  for (const Field& f : Tables::slice(tables_.fields, scope.type->fields)) {
    const auto offset = f.offset[index_of(abi_)];
    if ((brief && !f.in_brief) || offset + size_of(tables_.types[f.type]) > available) {
      continue;
    }
    rest_ = available == unlimited ? unlimited : available - offset;
    if (!wanted(f, scope)) {
      continue;
    }
    if (values_left_ == 0) {
      left_out = true;
      break;
    }
    field(f, scope);
  }
  if (left_out) {
    out_.more();
  }
  braces ? out_.end_struct() : void();
}

bool Walker::wanted(const Field& field, const Scope& scope) {
  if (field.hidden || (field.direction == Direction::out && (view_ == View::input || view_ == View::before))) {
    return false;
  }
  if (view_ == View::after && field.direction == Direction::in) {
    const auto all = Tables::slice(tables_.fields, scope.type->fields);
    if (std::any_of(all.begin(), all.end(), [](const Field& f) { return f.direction != Direction::in; })) {
      return false;
    }
  }
  if (!holds(field.condition, &scope)) {
    return false;
  }
  if (field.together != 0) {
    for (const Field& f : Tables::slice(tables_.fields, scope.type->fields)) {
      if (f.together == field.together &&
          load(tables_.types[f.type], scope.place.at(f.offset[index_of(abi_)])).value_or(0) != 0) {
        return true;
      }
    }
    return false;
  }
  return true;
}

bool Walker::field(const Field& field, const Scope& scope) {
  const Type& type = tables_.types[field.type];
  const auto offset = field.offset[index_of(abi_)];
  const Place place = scope.place.at(offset);
  if (field.inlined) {
    inlined_ = tables_.text(field.name);
    const bool done = value(type, place, &scope);
    inlined_ = {};
    return done;
  }
  if (type.kind == spec::TypeKind::bytes && type.style == spec::Style::inet6) {
    out_.begin_bare_field(tables_.text(field.name), tables_.text(type.name));
    return network_address(type, place, tables_.text(field.name)) || (out_.address(place.address), true);
  }
  out_.begin_field(tables_.text(field.name), tables_.text(type.name));
  const bool address_only = field.after || (type.kind == spec::TypeKind::pointer && !holds(field.when, &scope));
  if (address_only) {
    out_.address(RemoteAddr(load(type, place).value_or(0)));
    return true;
  }
  if (field.direction == Direction::inout && view_ == View::output) {
    const Place before = saved_at(place.address, size_of(type));
    const auto old_bits = load(type, before);
    if (before.kind == Place::Kind::copied && old_bits && old_bits != load(type, place)) {
      value(type, before, &scope);
      out_.changed();
    }
  }
  if (!value(type, place, &scope)) {
    out_.address(place.address);
  }
  return true;
}

}  // namespace tracer::decode
