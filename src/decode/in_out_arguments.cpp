// Arguments that show twice: what went in and what came out.
#include "decode/in_out_arguments.h"

#include <algorithm>

namespace tracer::decode {

using spec::Direction;
using spec::Param;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

namespace {

/// What is kept of an argument's target from entry to exit.
constexpr std::uint64_t max_saved = 4096;

}  // namespace

/// Whether it leads to a structure of which something shows after the call.
bool InOutArguments::has_late_fields(const Type& pointer) const {
  const Type& target = tables_.types[pointer.target];
  if (target.kind != TypeKind::structure) {
    return false;
  }
  const auto fields = Tables::slice(tables_.fields, tables_.structs[target.index].fields);
  return std::any_of(fields.begin(), fields.end(), [](const spec::Field& f) { return f.late; });
}

bool InOutArguments::defers(const Param& param) const {
  const auto bits = *session_.load(tables_.types[param.type], Place::in_register(evaluator_.raw_argument(param)));
  state_.half_deferred = !RemoteAddr(bits).is_null() && !evaluator_.holds(param.when, no_context);
  state_.half_emitted = state_.half_deferred;
  return state_.half_deferred;
}

bool InOutArguments::emit_before(const Param& param) const {
  const Type& type = tables_.types[param.type];
  const auto bits = *session_.load(type, Place::in_register(evaluator_.raw_argument(param)));
  const RemoteAddr address(bits);
  if (is_number_changed(type)) {
    state_.half_emitted = emit_number_before(type, address);
    return state_.half_emitted;
  }
  state_.partly_unread = false;
  if (address.is_null() || !values_.target(type, address, Context::of(View::before))) {
    out_.address(address);
    state_.half_emitted = shows_address_again(param);
    return state_.half_emitted;
  }
  state_.half_emitted = type.direction == Direction::inout || has_after_fields(type, bits);
  return state_.half_emitted;
}

/// Whether the call reads a number there and writes another: both stand in one pair of brackets, `[5 => 7]`.
bool InOutArguments::is_number_changed(const Type& pointer) const {
  return pointer.direction == Direction::inout && tables_.types[pointer.target].kind == TypeKind::scalar;
}

/// Emits `[5`, or the address if nothing can be read there. Returns whether the rest is to follow.
bool InOutArguments::emit_number_before(const Type& pointer, RemoteAddr address) const {
  const Type& type = tables_.types[pointer.target];
  const auto bits =
      address.is_null() || !state_.depth.dereference ? std::nullopt : session_.load(type, Place::remote(address));
  if (!bits) {
    out_.address(address);
    return false;
  }
  out_.begin_target();
  values_.numbers().emit_scalar(type, *bits);
  return true;
}

/// Emits ` => 7]`, or `]` where it is as it was.
void InOutArguments::emit_number_after(const Param& param) const {
  const Type& pointer = tables_.types[param.type];
  const Type& type = tables_.types[pointer.target];
  const RemoteAddr address(*session_.load(pointer, Place::in_register(evaluator_.raw_argument(param))));
  const auto old_bits = session_.load(type, session_.saved_at(address, session_.size_of(type)));
  const auto new_bits = is_filled(param) && evaluator_.holds(param.when, no_context)
                            ? session_.load(type, Place::remote(address))
                            : old_bits;
  if (new_bits && new_bits != old_bits) {
    out_.changed();
    values_.numbers().emit_scalar(type, *new_bits);
  }
  out_.end_target();
}

/// Whether the call has written there. As with what only comes out, `when 1` says that there always is something to
/// see.
bool InOutArguments::is_filled(const Param& param) const {
  const bool always = param.when != spec::none && tables_.exprs[param.when].op == spec::ExprOp::literal;
  return always ? session_.outcome->known : session_.succeeded();
}

/// Whether what came out shows as an address because nothing did: of those whose `when` looks at the result.
bool InOutArguments::shows_failure(const Param& param) const {
  const TypeKind kind = tables_.types[tables_.types[param.type].target].kind;
  return session_.outcome->known && !session_.succeeded() && param.when != spec::none &&
         (kind == TypeKind::custom || kind == TypeKind::array || kind == TypeKind::choice) &&
         evaluator_.mentions_result(param.when);
}

/// Whether an address that stood for what went in stands again for what came out, `0x7f00 => 0x7f00`: of structures
/// whose `when` looks at the result.
bool InOutArguments::shows_address_again(const Param& param) const {
  return param.when != spec::none && evaluator_.mentions_result(param.when) &&
         tables_.types[tables_.types[param.type].target].kind == TypeKind::structure;
}

void InOutArguments::emit_after(const Param& param) const {
  const Type& type = tables_.types[param.type];
  if (state_.half_deferred) {
    const RemoteAddr address(*session_.load(type, Place::in_register(evaluator_.raw_argument(param))));
    const bool shows = session_.succeeded() && !address.is_null() && evaluator_.holds(param.when, no_context);
    if (!shows || !values_.target(type, address, Context::of(View::after))) {
      out_.address(address);
    }
    return;
  }
  if (is_number_changed(type)) {
    emit_number_after(param);
    return;
  }
  // What could not be read to its end does not show again.
  if (state_.partly_unread && session_.outcome->known) {
    return;
  }
  const auto bits = *session_.load(type, Place::in_register(evaluator_.raw_argument(param)));
  if (shows_failure(param)) {
    out_.changed();
    out_.address(RemoteAddr(bits));
    return;
  }
  if (!is_filled(param) || !evaluator_.holds(param.when, no_context)) {
    return;
  }
  if (type.direction != Direction::inout) {
    emit_after_fields(type, bits);
    return;
  }
  const RemoteAddr address(bits);
  if (nothing_after(tables_.types[type.target], address)) {
    return;
  }
  out_.changed();
  if (!values_.target(type, address, Context::of(View::after))) {
    out_.address(address);
  }
}

/// Whether the call has filled in nothing of a structure that says what it fills in.
bool InOutArguments::nothing_after(const Type& type, RemoteAddr address) const {
  if (type.kind != TypeKind::structure || !state_.depth.dereference) {
    return false;
  }
  const spec::Struct& layout = tables_.structs[type.index];
  const auto fields = Tables::slice(tables_.fields, layout.fields);
  const bool says =
      std::any_of(fields.begin(), fields.end(), [](const spec::Field& f) { return f.direction != Direction::in; });
  const ScratchGuard guard(state_.scratch);
  const auto bytes =
      says && layout.kind == spec::StructKind::plain
          ? session_.copy(Place::remote(address), layout.min_size != 0 ? layout.min_size : session_.size_of(type))
          : std::nullopt;
  if (!bytes) {
    return false;
  }
  Scope scope;
  scope.type = &layout;
  scope.place = Place::copied(*bytes, address);
  scope.params = evaluator_.evaluate_params(type.args, no_context);
  const Context context = Context::of(View::after).in(scope);
  return std::none_of(fields.begin(), fields.end(),
                      [&](const spec::Field& f) { return values_.structs().wanted(f, context); });
}

/// Whether there is something to see of what went in, although an argument before it kept it waiting for the exit.
bool InOutArguments::was_kept(const Param& param, std::uint64_t bits) const {
  const Type& pointer = tables_.types[param.type];
  if (session_.outcome == nullptr || pointer.direction != Direction::inout || !state_.depth.dereference) {
    return false;
  }
  const RemoteAddr address(*session_.load(pointer, Place::in_register(bits)));
  const Type& type = tables_.types[pointer.target];
  return session_.saved_at(address, session_.size_of(type)).kind == Place::Kind::copied;
}

void InOutArguments::emit_both(const Param& param, std::uint64_t bits) const {
  const Type& pointer = tables_.types[param.type];
  bits = *session_.load(pointer, Place::in_register(bits));
  const RemoteAddr address(bits);
  if (!state_.depth.dereference) {
    out_.address(address);
    return;
  }
  const Type& type = tables_.types[pointer.target];
  const Place before = session_.saved_at(address, session_.size_of(type));
  if (pointer.direction != Direction::inout || before.kind != Place::Kind::copied) {
    if (address.is_null() || before.kind != Place::Kind::copied ||
        !values_.target(pointer, address, Context::of(View::output))) {
      out_.address(address);
    } else if (session_.succeeded()) {
      emit_after_fields(pointer, bits);
    }
    return;
  }
  if (type.kind == TypeKind::scalar) {
    out_.begin_target();
    values_.numbers().emit_scalar(type, session_.load(type, before).value_or(0));
    emit_number_after(param);
    return;
  }
  if (!values_.value(type, before, Context::of(View::before))) {
    out_.address(address);
    return;
  }
  if (session_.succeeded() && evaluator_.holds(param.when, no_context) && !nothing_after(type, address)) {
    out_.changed();
    if (!values_.target(pointer, address, Context::of(View::after))) {
      out_.address(address);
    }
  } else if (shows_failure(param)) {
    out_.changed();
    out_.address(address);
  }
}

/// Calls `found(field, address, scope)` for each field that points to what the call fills in.
template <typename Found>
void InOutArguments::for_each_after_field(const Type& pointer, std::uint64_t bits, const Found& found) const {
  const Type& type = tables_.types[pointer.target];
  if (type.kind != TypeKind::structure) {
    return;
  }
  const ScratchGuard guard(state_.scratch);
  Scope scope;
  scope.type = &tables_.structs[type.index];
  const auto bytes = session_.copy(Place::remote(RemoteAddr(bits)),
                                   scope.type->min_size != 0 ? scope.type->min_size : session_.size_of(type));
  if (!bytes) {
    return;
  }
  scope.place = Place::copied(*bytes, RemoteAddr(bits));
  for (const spec::Field& field : Tables::slice(tables_.fields, scope.type->fields)) {
    if (!field.late || !evaluator_.holds(field.condition, no_context.in(scope))) {
      continue;
    }
    const auto address = session_.load(tables_.types[field.type], scope.place.at(field.offset[index_of(session_.abi)]));
    if (address) {
      found(field, *address, scope);
    }
  }
}

bool InOutArguments::has_after_fields(const Type& pointer, std::uint64_t bits) const {
  bool any = false;
  for_each_after_field(pointer, bits, [&](const auto&...) { any = true; });
  return any;
}

/// ` => {parent_tid=[123]}`
void InOutArguments::emit_after_fields(const Type& pointer, std::uint64_t bits) const {
  if (!state_.depth.dereference) {
    return;
  }
  bool any = false;
  for_each_after_field(pointer, bits, [&](const spec::Field& field, std::uint64_t address, const Scope& scope) {
    if (!any) {
      any = true;
      out_.changed();
      out_.begin_struct();
    }
    const Type& type = tables_.types[field.type];
    out_.begin_field(tables_.text(field.name), tables_.text(type.name));
    values_.follow(type, Place::in_register(address), Context::of(View::output).in(scope));
  });
  if (any) {
    out_.end_struct();
  }
}

void InOutArguments::save_targets() const {
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  for (spec::Index i = 0; i < params.size(); ++i) {
    if (params[i].saved) {
      save_target(params[i], state_.signature->params.first + i);
    }
  }
}

void InOutArguments::save_target(const Param& param, spec::ParamId id) const {
  if (param.type == spec::none || tables_.types[param.type].kind != TypeKind::pointer) {
    return;
  }
  const Type& pointer = tables_.types[param.type];
  const RemoteAddr address(*session_.load(pointer, Place::in_register(evaluator_.raw_argument(param))));
  const Type& target = tables_.types[pointer.target];
  if (pointer.direction == Direction::inout && !evaluator_.holds(param.when, no_context)) {
    return;  // nothing of what goes in shows
  }
  // Of what the call fills in, how much that will be may be for the exit to say: what there is room for is kept.
  const bool open = target.kind == TypeKind::array && pointer.direction == Direction::out;
  const auto unit = open ? session_.size_of(tables_.types[target.target]) : session_.size_of(target);
  const auto size = open && unit != 0 ? max_saved / unit * unit : std::min(unit, max_saved);
  if (address.is_null() || size == 0) {
    return;
  }
  const auto offset = state_.saved_bytes.size();
  state_.saved_bytes.resize(offset + size);
  const auto read = session_.memory.read(address, std::span(state_.saved_bytes).subspan(offset, size));
  const auto kept = open ? read / unit * unit : read;
  state_.saved_bytes.resize(offset + kept);
  if (kept != 0) {
    state_.saved.push_back({id, address, offset, kept});
  }
}

}  // namespace tracer::decode
