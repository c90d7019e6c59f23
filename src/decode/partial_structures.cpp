// Structures that show in part. Of one that a call fills in, `{ifr_name="lo"` shows at the entry, and `, ifr_addr=…}`
// at the exit; of one that ends in memory that cannot be read, what is there.
#include <algorithm>

#include "decode/calls.h"
#include "decode/values.h"

namespace tracer::decode {

using spec::Direction;
using spec::Field;
using spec::Param;
using spec::Struct;
using spec::StructKind;
using spec::Tables;
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

/// Whether what is in these scopes is in a record of a list, such as a netlink message.
static bool is_in_message(const Scope* scope) {
  while (scope != nullptr && (scope->type == nullptr || scope->type->kind != StructKind::stream)) {
    scope = scope->outer;
  }
  return scope != nullptr && scope->type->is_list;
}

/// How many of the bytes of a structure must be readable for any of it to show: in a message those of its first part.
/// What of it cannot be read shows as its address.
std::uint64_t StructDecoder::least_readable(const Struct& layout, std::uint64_t wanted, const Scope* scope) const {
  if (shows_size_alone(layout)) {
    return std::min<std::uint64_t>(wanted, layout.filled_size);
  }
  if (has_unnamed_rest(layout)) {
    return std::min(wanted, start_of_rest(layout));
  }
  if (layout.has_brief && (layout.is_part || state_.depth.abbreviate) && own_size(layout) != nullptr) {
    return std::min(wanted, end_of(layout, &Field::in_brief));  // what does not show need not be there
  }
  if (layout.has_short) {
    return std::min(wanted, end_of(layout, &Field::in_short));
  }
  if (!is_in_message(scope)) {
    return wanted;
  }
  if (layout.is_list) {
    return 0;
  }
  return layout.variable ? std::min<std::uint64_t>(wanted, layout.layout.size[index_of(session_.abi)]) : wanted;
}

/// Of a structure whose fields show among those around it: the first one, with the address of what could not be read.
void StructDecoder::unread_field(const Struct& layout, const Place& place) const {
  const auto all = Tables::slice(tables_.fields, layout.fields);
  const auto first = std::find_if(all.begin(), all.end(), [](const Field& f) { return !f.hidden; });
  if (first != all.end()) {
    out_.begin_field(tables_.text(first->name), tables_.text(tables_.types[first->type].name));
    out_.address(place.address + first->offset[index_of(session_.abi)]);
  }
}

/// Where the fields are that cannot be read, after those that `short` lists, or the text that stands for them.
void StructDecoder::unread_rest(const Scope& scope) const {
  const std::string_view text = scope.type->short_end == spec::none ? "" : tables_.text(scope.type->short_end);
  if (text == "...") {
    out_.more();
    return;
  }
  if (!text.empty()) {
    out_.begin_bare_field("unreadable", "bytes");
    out_.symbol(text);
    return;
  }
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
