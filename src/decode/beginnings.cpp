// Structures whose beginning is known at the entry of a call that fills in the rest: `{ifr_name="lo"`, and at its exit
// `, ifr_addr=…}`.
#include "decode/walker.h"

namespace tracer::decode {

using spec::Direction;
using spec::Field;
using spec::Param;
using spec::Type;
using spec::TypeKind;

/// Whether something of what the argument leads to stands there before the call is over.
bool Walker::shows_beginning(const Param& param) {
  if (!param.begins || !out_.shows_unfinished() || !state_.depth.dereference) {
    return false;
  }
  const Type* target = &tables_.types[tables_.types[param.type].target];
  const ScratchGuard guard(state_.scratch);
  if (target->kind == TypeKind::choice) {
    Scope inner;
    inner.params = evaluate_params(target->args, no_context);
    target = chosen(*target, no_context.in(inner));
  }
  return target != nullptr && target->kind == TypeKind::structure && tables_.structs[target->index].has_beginning;
}

/// False if there is an address, and nothing to come.
bool Walker::emit_beginning(const Param& param, std::uint64_t bits) {
  const Type& type = tables_.types[param.type];
  const RemoteAddr address(*load(type, Place::in_register(bits)));
  Context context = Context::of(View::output);
  context.portion = Portion::beginning;
  context.slot = param.slot[index_of(abi_)];
  state_.struct_open = !address.is_null() && target(type, address, context);
  if (!state_.struct_open) {
    out_.address(address);
  }
  return state_.struct_open;
}

void Walker::emit_rest(const Type& pointer, std::uint64_t bits, Context context) {
  context.portion = Portion::rest;
  if (!target(pointer, RemoteAddr(*load(pointer, Place::in_register(bits))), context)) {
    out_.more();  // it has gone meanwhile
    out_.end_struct();
  }
}

/// The value at entry of a field that may have another at the exit. False: it waits until then.
bool Walker::emit_field_once(const Field& field, const Context& context) {
  const Type& type = tables_.types[field.type];
  const Place place = context.scope->place.at(offset_of(field, context));
  if (field.direction != Direction::inout || field.inlined || !wanted(field, context) || !load(type, place)) {
    return false;
  }
  out_.begin_field(tables_.text(field.name), tables_.text(type.name));
  if (!value(type, place, context)) {
    out_.address(place.address);
  }
  return true;
}

void Walker::emit_field_again(const Field& field, const Context& context) {
  if (has_changed(field, context)) {
    out_.changed();
    value(tables_.types[field.type], context.scope->place.at(offset_of(field, context)), context);
  }
}

}  // namespace tracer::decode
