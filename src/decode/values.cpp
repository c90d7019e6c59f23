// Single values, pointers and what they lead to.
#include <algorithm>
#include <array>

#include "decode/customs.h"
#include "format/constants.h"
#include "format/floating.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Direction;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

namespace {

constexpr unsigned max_depth = 28;

}  // namespace

/// As size_of; what a table chooses has the size of the table's first row, where all rows are of one size.
std::uint64_t Walker::size_of_any_row(const Type& type) const {
  const bool by_table = type.kind == TypeKind::choice && tables_.choices[type.index].rows.count != 0;
  return size_of(by_table ? tables_.types[tables_.choice_rows[tables_.choices[type.index].rows.first].type] : type);
}

std::uint64_t Walker::size_of(const Type& type) const {
  const auto fixed_count = [&]() -> std::uint64_t {
    if (type.length == spec::none || type.length_kind == spec::LengthKind::until_zero) {
      return 0;
    }
    const auto& length = tables_.exprs[type.length];
    return length.op == spec::ExprOp::literal && length.value > 0 ? static_cast<std::uint64_t>(length.value) : 0;
  };
  switch (type.kind) {
    case TypeKind::scalar:
    case TypeKind::pointer:
      return scalar_width(type);
    case TypeKind::array:
      return type.length_kind == spec::LengthKind::byte_count ? fixed_count()
                                                              : fixed_count() * size_of(tables_.types[type.target]);
    case TypeKind::bytes:
    case TypeKind::cstr:
      return fixed_count();
    case TypeKind::structure:
      return tables_.structs[type.index].layout.size[index_of(abi_)];
    case TypeKind::custom:
      return type.target == spec::none ? scalar_width(type) : size_of(tables_.types[type.target]);
    case TypeKind::choice:
      return 0;
  }
  return 0;
}

bool Walker::load(const Type& type, const Place& place, std::uint64_t& bits) const {
  if (type.kind == TypeKind::custom && type.target != spec::none) {
    return load(tables_.types[type.target], place, bits);
  }
  bits = place.bits;
  if (type.kind == TypeKind::choice && tables_.choices[type.index].rows.count != 0) {
    // Of a table of sets, whatever the set, the number is the same.
    const Type& any = tables_.types[tables_.choice_rows[tables_.choices[type.index].rows.first].type];
    return (any.kind == TypeKind::scalar || any.kind == TypeKind::choice) && load(any, place, bits);
  }
  if (type.kind != TypeKind::scalar && type.kind != TypeKind::pointer && type.kind != TypeKind::custom) {
    return place.kind == Place::Kind::reg;
  }
  const unsigned width = scalar_width(type);
  if (type.width == spec::long_double_wide && type.kind == TypeKind::scalar) {
    if (place.kind != Place::Kind::reg) {
      const auto number = load_long_double(place, width);
      bits = number.value_or(0);
      return number.has_value();
    }
    return true;
  }
  if (place.kind != Place::Kind::reg) {
    bits = 0;
    const auto into = std::as_writable_bytes(std::span(&bits, 1)).first(width);
    if (place.kind == Place::Kind::copied && place.bytes.size() >= width) {
      std::copy_n(place.bytes.begin(), width, into.begin());
    } else if (memory_.read(place.address, into) != width) {
      return false;
    }
  }
  if (type.bit_count != 0 && place.kind != Place::Kind::reg) {
    const unsigned above = 64U - std::min(64U, unsigned{type.bit_offset} + type.bit_count);
    const unsigned beside = 64U - std::min<unsigned>(64U, type.bit_count);
    const std::uint64_t up = bits << above;
    bits = type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(up) >> beside) : up >> beside;
    return true;
  }
  bits = format::cut(bits, width, type.is_signed);
  return true;
}

/// As a double.
std::optional<std::uint64_t> Walker::load_long_double(const Place& place, unsigned size) const {
  std::array<std::byte, 16> raw{};
  const auto into = std::span(raw).first(size);
  if (place.kind == Place::Kind::copied && place.bytes.size() >= size) {
    std::copy_n(place.bytes.begin(), size, into.begin());
  } else if (memory_.read(place.address, into) != size) {
    return std::nullopt;
  }
  return format::double_of_long_double(into, abi_);
}

bool Walker::value(const Type& type, const Place& place, Context context) {
  if (!spend() || context.depth >= max_depth) {
    out_.symbol("...");
    return true;
  }
  // A custom emits the fields itself.
  if (!context.inline_into.empty() && type.kind != TypeKind::choice && type.kind != TypeKind::structure &&
      type.kind != TypeKind::custom) {
    out_.begin_field(context.inline_into, tables_.text(type.name));
  }
  if (context.splice != nullptr && type.kind != TypeKind::choice &&
      !(type.kind == TypeKind::structure && tables_.structs[type.index].is_list &&
        tables_.structs[type.index].kind == spec::StructKind::plain)) {
    context.splice->element_begun = true;
    context.splice = nullptr;
    out_.begin_element();
  }
  if (type.kind != TypeKind::choice && type.kind != TypeKind::structure) {
    context.enter_value();
  }
  ++context.depth;
  switch (type.kind) {
    case TypeKind::scalar:
      if (const auto bits = load(type, place)) {
        emit_scalar(type, *bits);
        return true;
      }
      return false;
    case TypeKind::pointer:
      return follow(type, place, context);
    case TypeKind::array:
      return array(type, place, context);
    case TypeKind::bytes:
      return bytes(type, place, context);
    case TypeKind::cstr:
      return text(type, place, context);
    case TypeKind::structure:
      return structure(type, place, context, evaluate_params(type.args, context));
    case TypeKind::choice:
      return choice(type, place, context);
    case TypeKind::custom:
      return custom(type, place, context);
  }
  return false;
}

/// `NULL /* 0 entries */`: what a call fills with as many bytes as it says needs no address if there are none.
bool Walker::counts_nothing(const Type& type) const {
  return type.brief != spec::none && type.length_kind == spec::LengthKind::byte_count && outcome_ != nullptr &&
         outcome_->value == 0;
}

bool Walker::follow(const Type& pointer, const Place& place, const Context& context) {
  const auto bits = load(pointer, place);
  if (!bits) {
    return false;
  }
  const RemoteAddr address(*bits);
  const bool unfilled = pointer.direction == Direction::out && !succeeded() && !context.filled;
  const Type& pointed = tables_.types[pointer.target];
  const bool nothing = address.is_null() && !counts_nothing(pointed);
  if (nothing && pointed.budget != spec::none) {
    length(pointed, context);  // uses up its share nevertheless
  }
  if (nothing || unfilled || !target(pointer, address, context)) {
    out_.address(address);
    if (context.unread != nullptr && !address.is_null()) {
      context.unread->any = true;
    }
  }
  return true;
}

bool Walker::target(const Type& pointer, RemoteAddr address, Context context) {
  const Type& type = tables_.types[pointer.target];
  if (!state_.depth.dereference && !is_text(type, context)) {
    // There is nothing to look at in an array of no elements.
    const bool counted = type.kind == TypeKind::array && type.length_kind == spec::LengthKind::count;
    if (!counted || type.brief != spec::none || length(type, context).value_or(1) != 0) {
      return false;
    }
    out_.begin_array();
    out_.end_array();
    return true;
  }
  context.remaining = unlimited;
  if (pointer.sized_by != spec::none) {
    const auto size = evaluate(pointer.sized_by, context);
    if (!size || *size < 0) {
      return false;
    }
    context.remaining = static_cast<std::uint64_t>(*size);
  }
  if (type.kind != TypeKind::scalar && type.kind != TypeKind::pointer) {
    return value(type, Place::remote(address), context);
  }
  const auto bits = load(type, Place::remote(address));
  if (!bits) {
    return false;
  }
  out_.begin_target();
  value(type, Place::in_register(*bits), context);
  out_.end_target();
  return true;
}

/// How many bytes there must be for it to show: fewer than it has if it is `sized by` and says so.
std::uint64_t Walker::least_of(const Type& type) const {
  const bool says = type.kind == TypeKind::structure && tables_.structs[type.index].min_size != 0;
  return says ? tables_.structs[type.index].min_size : size_of(type);
}

/// The row of a table that its values choose; nullptr: none.
const Type* Walker::chosen(const Type& type, const Context& inner) {
  const spec::Choice& table = tables_.choices[type.index];
  for (const spec::ChoiceRow& row : Tables::slice(tables_.choice_rows, table.rows)) {
    bool matches = true;
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      if (row.keys[i] == spec::none) {
        continue;
      }
      const auto key = evaluate(row.keys[i], inner);
      const auto& params = inner.scope->params;
      matches = matches && key && i < params.size() && *key == params[i];
    }
    matches = matches && (!row.whole || inner.remaining >= least_of(tables_.types[row.type]));
    if (matches) {
      return row.type == spec::none ? nullptr : &tables_.types[row.type];
    }
  }
  return nullptr;
}

/// Whether a table says what to make of the bytes that are left, and there are enough.
bool Walker::has_row(const Type& type, const Context& context) {
  const ScratchGuard guard(state_.scratch);
  const Scope& scope = *context.scope;
  Scope inner;
  inner.outer = &scope;
  inner.params = evaluate_params(type.args, context);
  const Type* found = chosen(type, context.in(inner));
  // Of a list those elements show that are there; what is too short for an element shows as bytes.
  const bool of_list = scope.type != nullptr && scope.type->is_list && context.remaining != 0;
  return found != nullptr && (of_list || size_of(*found) <= context.remaining);
}

bool Walker::choice(const Type& type, const Place& place, const Context& context) {
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = context.scope;
  inner.place = place;
  inner.params = evaluate_params(type.args, context);
  const Context within = context.in(inner);
  const Type* found = chosen(type, within);
  if (found == nullptr) {
    return false;
  }
  if (place.kind == Place::Kind::reg || found->kind != TypeKind::scalar) {
    return value(*found, place, within);
  }
  const auto bits = load(*found, place);
  if (!bits || context.remaining < scalar_width(*found)) {
    return false;
  }
  const bool bare = place.kind == Place::Kind::copied;
  bare ? void() : out_.begin_target();
  value(*found, Place::in_register(*bits), within);
  bare ? void() : out_.end_target();
  return true;
}

/// Whether a type is text, by what its table chooses if it is one.
bool Walker::is_text(const Type& type, const Context& context) {
  if (type.kind == TypeKind::array && type.length_kind == spec::LengthKind::byte_count) {
    return is_text(tables_.types[type.target], context);
  }
  if (type.kind != TypeKind::choice) {
    return type.kind == TypeKind::bytes || type.kind == TypeKind::cstr;
  }
  const ScratchGuard guard(state_.scratch);
  Scope inner;
  inner.outer = context.scope;
  inner.params = evaluate_params(type.args, context);
  const Context within = context.in(inner);
  const Type* found = chosen(type, within);
  return found != nullptr && found->kind != TypeKind::choice && is_text(*found, within);
}

}  // namespace tracer::decode
