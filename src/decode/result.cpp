// The result of a call, and the note behind it.
#include <algorithm>

#include "decode/calls.h"
#include "format/constants.h"
#include "format/dates.h"
#include "format/scalars.h"
#include "spec/signal_names.h"

namespace tracer::decode {

using render::CallResult;
using spec::Type;
using spec::TypeKind;

namespace {

/// Whether any of the bits has a name.
bool has_flag(const spec::Tables& tables, const spec::ConstantSet& set, std::uint64_t bits) {
  for (const spec::ConstantGroup& group : spec::Tables::slice(tables.groups, set.groups)) {
    const auto constants = spec::Tables::slice(tables.constants, group.constants);
    if (std::any_of(constants.begin(), constants.end(),
                    [&](const spec::Constant& c) { return (c.value & bits) != 0; })) {
      return true;
    }
  }
  return false;
}

/// Whether the type has room for all that the register holds. A type as wide as the register has, and an id of a
/// process is cut to its type in any case.
bool has_room(const Type& type, std::uint64_t bits, Abi abi) {
  if (type.style == spec::Style::tgid || type.style == spec::Style::tid || type.style == spec::Style::pgid) {
    return true;
  }
  constexpr unsigned bits_of_byte = 8;
  const unsigned width = spec::bytes_of(type.width, abi);
  return width >= register_size(abi) || bits >> (width * bits_of_byte - (type.is_signed ? 1 : 0)) == 0;
}

}  // namespace

void CallDecoder::emit_result() {
  CallResult result;
  result.value = session_.outcome->value;
  if (!session_.outcome->known) {
    result.kind = CallResult::Kind::unknown;
  } else if (session_.outcome->is_error) {
    result.kind = CallResult::Kind::error;
    result.error = static_cast<int>(-session_.outcome->value);
    result.raw = state_.depth.raw;
    result.is_address = returns_address();
  } else if (state_.entry.function != nullptr && state_.signature->result == spec::none) {
    result.kind = CallResult::Kind::nothing;
  }
  out_.begin_result(result);
  if (result.kind == CallResult::Kind::value) {
    if (state_.entry.function != nullptr) {
      emit_function_result();
      out_.end_result();
      return;
    }
    // What is no error is no negative number either, whatever the type says: -2 shows as a register's worth of bits.
    static const Type plain = format::scalar_type(8, false, spec::Style::number);
    const auto bits = register_size(session_.abi) == 4 ? static_cast<std::uint32_t>(session_.outcome->value)
                                                       : static_cast<std::uint64_t>(session_.outcome->value);
    const bool described = state_.call != nullptr && state_.signature->result != spec::none;
    const Type& type = described ? tables_.types[state_.signature->result] : plain;
    const bool of_unknown_call = state_.call == nullptr && state_.entry.function_name.empty();
    if (state_.depth.raw || of_unknown_call) {
      emit_register(out_, bits);
    } else if (!described && !state_.entry.function_name.empty()) {
      emit_guess(out_, bits, session_.abi);
    } else if (type.kind == TypeKind::scalar && type.style == spec::Style::number && type.set == spec::none) {
      out_.scalar(bits, plain);
    } else if (type.kind == TypeKind::scalar && type.set == spec::none && !has_room(type, bits, session_.abi)) {
      const bool has_base = type.style == spec::Style::hex || type.style == spec::Style::octal;
      out_.scalar(bits, format::scalar_type(8, type.is_signed, has_base ? type.style : spec::Style::number));
    } else if (type.kind == TypeKind::scalar) {
      values_.numbers().emit_scalar(
          type, *session_.load(type, Place::in_register(bits)));  // whatever the arguments have cost
    } else if (!values_.value(type, Place::in_register(bits), no_context)) {
      out_.scalar(bits, plain);
    }
    if (state_.call != nullptr && state_.signature->note != spec::none && !state_.depth.raw) {
      emit_note(bits);
    }
  }
  out_.end_result();
}

/// A number without a name: `= 0`, not `= 0 (flags 0)`.
bool CallDecoder::explains_nothing(const Type& note, std::uint64_t bits) const {
  if (note.kind != TypeKind::scalar) {
    return false;
  }
  if (note.set != spec::none) {
    const auto& set = tables_.sets[note.set];
    const bool says = state_.signature->note_prefix != spec::none || state_.signature->note_styled;
    return set.is_flags
               ? (bits == 0 ? !format::has_name_for_zero(tables_, note.set) : !says && !has_flag(tables_, set, bits))
               : format::constant_name(tables_, note.set, bits, session_.abi).empty();
  }
  return note.style == spec::Style::signal ? bits == 0 || bits > std::uint64_t{spec::max_signal}
                                           : bits == 0 && note.style == spec::Style::time;
}

void CallDecoder::emit_note(std::uint64_t bits) {
  const Type& note = tables_.types[state_.signature->note];
  const bool is_constant = note.kind == TypeKind::scalar && note.set != spec::none;
  const Type& shown = note.kind == TypeKind::custom && note.target != spec::none ? tables_.types[note.target] : note;
  const bool is_unfollowed = shown.kind == TypeKind::structure && !state_.depth.dereference;
  if (is_unfollowed || (state_.unreadable && is_constant) || explains_nothing(note, bits)) {
    return;
  }
  out_.begin_note(tables_.text(state_.signature->note_prefix), state_.signature->note_styled);
  if (note.style == spec::Style::time && note.kind == TypeKind::scalar) {
    TextBuffer& date = state_.words;
    date.clear();
    format::append_date(date, static_cast<std::int64_t>(bits), 0, 0);
    out_.symbol(date.view());
    out_.end_note();
    return;
  }
  if (note.kind == TypeKind::scalar && note.index != spec::none) {
    values_.numbers().show_parts(note, bits);
  } else {
    values_.value(note, Place::in_register(bits), no_context);
  }
  out_.end_note();
}

}  // namespace tracer::decode
