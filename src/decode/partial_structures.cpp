// Structures of which a part is known at the entry of a call that fills in the rest: `{ifr_name="lo"` shows at the
// entry, and `, ifr_addr=…}` at the exit.
#include "decode/calls.h"
#include "decode/values.h"

namespace tracer::decode {

using spec::Direction;
using spec::Field;
using spec::Param;
using spec::Type;
using spec::TypeKind;

/// Whether a part of the structure that the argument leads to shows at the entry.
bool CallDecoder::shows_at_entry(const Param& param) const {
  if (!param.begins || !out_.shows_unfinished() || !state_.depth.dereference) {
    return false;
  }
  const Type* target = &tables_.types[tables_.types[param.type].target];
  const ScratchGuard guard(state_.scratch);
  if (target->kind == TypeKind::choice) {
    Scope inner;
    inner.params = evaluator_.evaluate_params(target->args, no_context);
    target = evaluator_.chosen(*target, no_context.in(inner));
  }
  return target != nullptr && target->kind == TypeKind::structure && tables_.structs[target->index].has_beginning;
}

/// Emits that part. Returns false if an address shows in its place; then nothing is left for the exit.
bool CallDecoder::emit_partial(const Param& param, std::uint64_t bits) {
  const Type& type = tables_.types[param.type];
  const RemoteAddr address(*session_.load(type, Place::in_register(bits)));
  Context context = Context::of(View::output);
  context.portion = Portion::at_entry;
  context.slot = param.slot[index_of(session_.abi)];
  state_.struct_open = !address.is_null() && values_.target(type, address, context);
  if (!state_.struct_open) {
    out_.address(address);
  }
  return state_.struct_open;
}

void CallDecoder::emit_rest(const Type& pointer, std::uint64_t bits, Context context) {
  context.portion = Portion::rest;
  state_.struct_open = false;
  if (!values_.target(pointer, RemoteAddr(*session_.load(pointer, Place::in_register(bits))), context)) {
    out_.more();  // it has gone meanwhile
    out_.end_struct();
  }
}

/// Where the fields are that cannot be read, after those that `short` lists.
void StructDecoder::unread_rest(const Scope& scope) const {
  out_.begin_bare_field("unreadable", "address");
  out_.address(scope.place.address + end_of(*scope.type, &Field::in_short));
}

/// The value at entry of a field that may have another at the exit. False: it waits until then.
bool StructDecoder::emit_field_once(const Field& field, const Context& context) const {
  const Type& type = tables_.types[field.type];
  const Place place = context.scope->place.at(offset_of(field, context));
  if (field.direction != Direction::inout || field.inlined || !wanted(field, context) || !session_.load(type, place)) {
    return false;
  }
  out_.begin_field(tables_.text(field.name), tables_.text(type.name));
  if (!values_.value(type, place, context)) {
    out_.address(place.address);
  }
  return true;
}

void StructDecoder::emit_field_again(const Field& field, const Context& context) const {
  if (has_changed(field, context)) {
    out_.changed();
    values_.value(tables_.types[field.type], context.scope->place.at(offset_of(field, context)), context);
  }
}

}  // namespace tracer::decode
