// Single values, pointers and what they lead to.
#include "decode/values.h"

#include "decode/customs.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Direction;
using spec::Type;
using spec::TypeKind;

namespace {

constexpr unsigned max_depth = 28;

}  // namespace

/// Begins the field or the element that the value is, unless what is in the value shows in its place.
void ValueDecoder::begin(const Type& type, Context& context) const {
  const bool is_structure = type.kind == TypeKind::structure;
  if (!context.inline_into.empty() && !is_structure && type.kind != TypeKind::custom) {  // a custom emits the fields
    out_.begin_field(context.inline_into, tables_.text(type.name));
  }
  if (context.splice != nullptr) {
    const bool is_list = is_structure && tables_.structs[type.index].is_list &&
                         tables_.structs[type.index].kind == spec::StructKind::plain;
    if (!is_list) {
      context.splice->element_begun = true;
      context.splice = nullptr;
      out_.begin_element();
    }
  }
  if (!is_structure) {
    context.enter_value();
  }
}

bool ValueDecoder::value(const Type& type, const Place& place, const Context& around) {
  // Most values are numbers, and need no context of their own, which takes long to copy where it was just written.
  if (type.kind == TypeKind::scalar && !around.is_in_place() && around.depth < max_depth && session_.spend()) {
    const auto bits = session_.load(type, place);
    if (bits) {
      numbers().emit_scalar(type, *bits);
    }
    return bits.has_value();
  }
  Context context = around;
  return value_within(type, place, context);
}

bool ValueDecoder::value_within(const Type& type, const Place& place, Context& context) {
  if (!session_.spend() || context.depth >= max_depth) {
    out_.symbol("...");
    return true;
  }
  // What a table chooses comes here again.
  if (type.kind != TypeKind::choice && context.is_in_place()) {
    begin(type, context);
  }
  ++context.depth;
  switch (type.kind) {
    case TypeKind::scalar:
      if (const auto bits = session_.load(type, place)) {
        numbers().emit_scalar(type, *bits);
        return true;
      }
      return false;
    case TypeKind::pointer:
      return follow(type, place, context);
    case TypeKind::array:
      return arrays().array(type, place, context);
    case TypeKind::bytes:
      return strings().bytes(type, place, context);
    case TypeKind::cstr:
      return strings().text(type, place, context);
    case TypeKind::structure:
      return structs().structure(type, place, context, evaluator_.evaluate_params(type.args, context));
    case TypeKind::choice:
      return choice(type, place, context);
    case TypeKind::custom:
      return custom(type, place, context);
  }
  return false;
}

/// `NULL /* 0 entries */`: what a call fills with as many bytes as it says needs no address if there are none.
bool ValueDecoder::counts_nothing(const Type& type) const {
  return type.brief != spec::none && type.length_kind == spec::LengthKind::byte_count && session_.outcome != nullptr &&
         session_.outcome->value == 0;
}

bool ValueDecoder::follow(const Type& pointer, const Place& place, const Context& context) {
  const auto bits = place.kind == Place::Kind::reg && pointer.kind == TypeKind::pointer
                        ? Count(session_.in_register(pointer, place.bits))
                        : session_.load(pointer, place);
  if (!bits) {
    return false;
  }
  const RemoteAddr address(*bits);
  const bool unfilled = pointer.direction == Direction::out && !session_.succeeded() && !context.filled;
  const Type& pointed = tables_.types[pointer.target];
  // A pointer of 64 bits may point beyond all that a program of 32 bits has.
  const bool beyond = word_size(session_.abi) == 4 && *bits >> 32 != 0 && pointed.kind != TypeKind::array;
  const bool nothing = address.is_null() && !counts_nothing(pointed);
  if (nothing && pointed.budget != spec::none) {
    evaluator_.length(pointed, context);  // uses up its share nevertheless
  }
  if (nothing || unfilled || beyond || !target(pointer, address, context)) {
    out_.address(address);
    // Text that cannot be read is a value like others.
    state_.partly_unread = state_.partly_unread || (context.view == View::before && !is_text(pointed, context));
    if (context.unread != nullptr && !address.is_null()) {
      context.unread->any = true;
    }
  }
  return true;
}

/// Whether too few bytes are there for one record of a stream that is followed.
bool ValueDecoder::has_no_records(const Type& type, const Context& context) const {
  if (type.kind != TypeKind::array || type.length_kind != spec::LengthKind::byte_count) {
    return false;
  }
  const Type& element = tables_.types[type.target];
  if (element.kind != TypeKind::structure || !tables_.structs[element.index].is_followed) {
    return false;
  }
  const auto bytes = evaluator_.length(type, context);
  const auto step = evaluator_.evaluate(tables_.structs[element.index].step, context);
  return bytes && step && *bytes < static_cast<std::uint64_t>(*step);
}

bool ValueDecoder::target(const Type& pointer, RemoteAddr address, const Context& around) {
  const Type& type = tables_.types[pointer.target];
  // Most pointers lead to bytes. They show whatever else is followed, and need no context of their own.
  if (type.kind == TypeKind::bytes && pointer.sized_by == spec::none && around.remaining == unlimited &&
      !around.is_in_place() && around.depth < max_depth && session_.spend()) {
    return strings().bytes(type, Place::remote(address), around);
  }
  Context context = around;
  const Type& inner = type.kind == TypeKind::custom && type.target != spec::none ? tables_.types[type.target] : type;
  const bool is_followed = inner.kind == TypeKind::structure && tables_.structs[inner.index].is_followed;
  if (!state_.depth.dereference && !is_followed && !is_text(type, context)) {
    // There is nothing to look at in an array of no elements, if their number is known, or is the result.
    const bool counted = type.kind == TypeKind::array && type.length_kind == spec::LengthKind::count;
    if (has_no_records(type, context)) {
      out_.begin_array();
      out_.end_array();
      return true;
    }
    const bool computed =
        counted && evaluator_.mentions_result(type.length) && tables_.exprs[type.length].op != spec::ExprOp::ret;
    if (!counted || computed || type.brief != spec::none || evaluator_.length(type, context).value_or(1) != 0) {
      return false;
    }
    out_.begin_array();
    out_.end_array();
    return true;
  }
  context.remaining = unlimited;
  if (pointer.sized_by != spec::none) {
    const auto size = evaluator_.evaluate(pointer.sized_by, context);
    if (!size) {
      return false;
    }
    // Of bytes that the program gives a size below zero is a large one.
    context.remaining = std::min(static_cast<std::uint64_t>(*size), unlimited - 1);
    if (*size < 0 && (pointer.direction == spec::Direction::out || !ends_in_bytes(type, context))) {
      return false;
    }
  }
  if (type.kind != TypeKind::scalar && type.kind != TypeKind::pointer) {
    return value_within(type, Place::remote(address), context);
  }
  const auto bits = session_.load(type, Place::remote(address));
  if (!bits) {
    return false;
  }
  out_.begin_target();
  value(type, Place::in_register(*bits), context);
  out_.end_target();
  return true;
}

bool ValueDecoder::choice(const Type& type, const Place& place, const Context& context) {
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = context.scope;
  inner.place = place;
  inner.params = evaluator_.evaluate_params(type.args, context);
  const Context within = context.in(inner);
  const Type* found = evaluator_.chosen(type, within);
  if (found == nullptr) {
    return false;
  }
  if (place.kind == Place::Kind::reg || found->kind != TypeKind::scalar) {
    return value(*found, place, within);
  }
  const auto bits = session_.load(*found, place);
  if (!bits || context.remaining < session_.scalar_width(*found)) {
    return false;
  }
  const bool bare = place.kind == Place::Kind::copied;
  bare ? void() : out_.begin_target();
  value(*found, Place::in_register(*bits), within);
  bare ? void() : out_.end_target();
  return true;
}

/// Whether a table chooses a type of which `holds` is true.
template <typename Holds>
bool ValueDecoder::chosen_is(const Type& type, const Context& context, const Holds& holds) const {
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = context.scope;
  inner.params = evaluator_.evaluate_params(type.args, context);
  const Context within = context.in(inner);
  const Type* found = evaluator_.chosen(type, within);
  return found != nullptr && holds(*found, within);
}

/// Whether a type is text, by what its table chooses if it is one.
bool ValueDecoder::is_text(const Type& type, const Context& context) const {
  if (type.kind == TypeKind::array && type.length_kind == spec::LengthKind::byte_count) {
    return is_text(tables_.types[type.target], context);
  }
  if (type.kind != TypeKind::choice) {
    return type.kind == TypeKind::bytes || type.kind == TypeKind::cstr;
  }
  return chosen_is(type, context, [this](const Type& found, const Context& within) {
    return found.kind != TypeKind::choice && is_text(found, within);
  });
}

/// Whether a type is bytes, by what its tables choose.
bool ValueDecoder::ends_in_bytes(const Type& type, const Context& context) const {
  if (type.kind != TypeKind::choice) {
    return type.kind == TypeKind::bytes;
  }
  return chosen_is(type, context,
                   [this](const Type& found, const Context& within) { return ends_in_bytes(found, within); });
}

bool ValueDecoder::custom(const Type& type, const Place& place, const Context& context) {
  const CustomFunction function = session_.setting.functions[type.custom];
  std::uint64_t size = session_.size_of(type);
  const bool says_length = type.target != spec::none && tables_.types[type.target].length != spec::none;
  if (size == 0 && says_length) {
    const Type& target = tables_.types[type.target];
    const bool counts = target.kind == TypeKind::array && target.length_kind == spec::LengthKind::count;
    size = evaluator_.length(target, context).value_or(0);
    const std::uint64_t width = counts ? session_.size_of(tables_.types[target.target]) : 1;
    size = __builtin_mul_overflow(size, width, &size) ? unlimited : size;
  }
  if (context.remaining != unlimited && size == 0 && !says_length) {
    size = context.remaining;
  }
  Place here = place;
  if (place.kind == Place::Kind::reg) {
    here.bits = session_.load(type, place).value_or(place.bits);
  }
  if (function == nullptr) {
    static const Type plain = format::scalar_type(8, false, spec::Style::hex);
    return value(type.target != spec::none ? tables_.types[type.target] : plain, place, context);
  }
  CustomValue custom(*this, &type, here, size, context);
  return function(custom);
}

}  // namespace tracer::decode
