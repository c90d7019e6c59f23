// Functions of libraries: the values they take, and the arguments that a format asks for.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "decode/calls.h"
#include "decode/format.h"
#include "decode/function_values.h"
#include "decode/wide_text.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Tables;
using spec::Type;
using spec::TypeKind;
using spec::ValueClass;
using spec::Varargs;

namespace {

constexpr std::size_t longest_format = 4096;

ValueClass class_of(const Tables& tables, const Type& type, Abi abi) {
  if (type.kind == TypeKind::custom && type.target != spec::none) {
    return class_of(tables, tables.types[type.target], abi);
  }
  if (type.kind != TypeKind::scalar) {
    return ValueClass::integer;
  }
  if (type.width == spec::long_double_wide) {
    return ValueClass::extended;
  }
  const unsigned width = spec::bytes_of(type.width, abi);
  if (type.style == spec::Style::floating || type.style == spec::Style::hex_floating) {
    return width == sizeof(float) ? ValueClass::single : ValueClass::floating;
  }
  return width > register_size(abi) ? ValueClass::integer64 : ValueClass::integer;
}

/// Nothing bigger is passed in registers (AAPCS64: four long doubles).
constexpr std::uint32_t most_in_registers = 64;
constexpr unsigned deepest_parts = 16;

/// Bytes of a type that stands in a structure.
std::uint64_t size_of(const Tables& tables, const Type& type, Abi abi) {
  const auto count = [&]() -> std::uint64_t {
    const bool is_literal = type.length != spec::none && tables.exprs[type.length].op == spec::ExprOp::literal;
    return is_literal ? static_cast<std::uint64_t>(std::max<std::int64_t>(tables.exprs[type.length].value, 0)) : 0;
  };
  switch (type.kind) {
    case TypeKind::structure:
      return tables.structs[type.index].layout.size[index_of(abi)];
    case TypeKind::array:
      return type.length_kind == spec::LengthKind::byte_count
                 ? count()
                 : count() * size_of(tables, tables.types[type.target], abi);
    case TypeKind::bytes:
    case TypeKind::cstr:
      return count();
    case TypeKind::pointer:
      return type.wide_pointer ? 8 : word_size(abi);
    case TypeKind::custom:
      return type.target != spec::none ? size_of(tables, tables.types[type.target], abi)
                                       : spec::bytes_of(type.width, abi);
    default:
      return spec::bytes_of(type.width, abi);
  }
}

/// The scalars of a type at a place in a structure.
void add_parts(const Tables& tables, const Type& type, std::uint64_t offset, Abi abi, unsigned depth,
               std::vector<spec::ValuePart>& parts) {
  const std::uint64_t size = size_of(tables, type, abi);
  if (depth > deepest_parts || size == 0 || offset + size > most_in_registers) {
    return;
  }
  if (&stored_type(tables, type) != &type) {
    add_parts(tables, stored_type(tables, type), offset, abi, depth + 1, parts);
  } else if (type.kind == TypeKind::structure) {
    for (const auto& field : Tables::slice(tables.fields, tables.structs[type.index].fields)) {
      add_parts(tables, tables.types[field.type], offset + field.offset[index_of(abi)], abi, depth + 1, parts);
    }
  } else if (type.kind == TypeKind::array) {
    const Type& element = tables.types[type.target];
    const std::uint64_t step = std::max<std::uint64_t>(size_of(tables, element, abi), 1);
    for (std::uint64_t at = 0; at < size; at += step) {
      add_parts(tables, element, offset + at, abi, depth + 1, parts);
    }
  } else if (type.kind == TypeKind::bytes || type.kind == TypeKind::cstr) {
    for (std::uint64_t at = 0; at < size; ++at) {
      parts.push_back({static_cast<std::uint32_t>(offset + at), 1, ValueClass::integer});
    }
  } else if (parts.size() < std::size_t{most_in_registers} * 8) {
    parts.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size), class_of(tables, type, abi)});
  }
}

spec::PassedValue passed_value(const Tables& tables, const Type& type, Abi abi) {
  spec::PassedValue value;
  const Type& stored = stored_type(tables, type);
  if (stored.kind != TypeKind::structure) {
    value.value_class = class_of(tables, type, abi);
    return value;
  }
  const spec::Layout& layout = tables.structs[stored.index].layout;
  value.value_class = ValueClass::structure;
  value.size = layout.size[index_of(abi)];
  value.alignment = std::max<std::uint32_t>(layout.align[index_of(abi)], 1);
  if (value.size <= most_in_registers) {
    add_parts(tables, stored, 0, abi, 0, value.parts);
  }
  value.is_complex = tables.structs[stored.index].is_complex && value.parts.size() == 2;
  return value;
}

/// The slots of the longer forms that a function may have are integers.
void add_slots(const Tables& tables, const spec::Signature& signature, Abi abi, std::size_t& slots) {
  for (const auto& param : Tables::slice(tables.params, signature.params)) {
    if (param.type != spec::none) {
      slots = std::max(slots, param.slot[index_of(abi)] + std::size_t{1});
    }
  }
  for (const auto& row : Tables::slice(tables.signature_rows, signature.rows)) {
    add_slots(tables, tables.signatures[row.signature], abi, slots);
  }
  if (signature.otherwise != spec::none) {
    add_slots(tables, tables.signatures[signature.otherwise], abi, slots);
  }
}

std::vector<FormatArgument> format_arguments(Varargs varargs, std::span<const std::byte> format, Abi abi,
                                             std::size_t fixed) {
  const std::size_t most = spec::most_parameters - std::min(fixed, spec::most_parameters);
  return varargs == Varargs::printf ? printf_arguments(format, abi, most) : scanf_arguments(format, abi, most);
}

const spec::Param& format_of(const Tables& tables, const spec::Call& function) {
  return Tables::slice(tables.params, tables.signatures[function.signature].params).back();
}

std::size_t slot_of_format(const Tables& tables, const spec::Call& function, Abi abi) {
  return format_of(tables, function).slot[index_of(abi)];
}

bool is_wide_text(const Tables& tables, const Type& type) {
  if (type.kind != TypeKind::pointer || tables.types[type.target].kind != TypeKind::custom) {
    return false;
  }
  return tables.text(tables.customs[tables.types[type.target].custom]) == "wide_text";
}

/// Up to a NUL, the end of what can be read, or `into`'s. Of wide characters, those that a format gives a meaning.
std::span<const std::byte> read_format(const Tables& tables, const spec::Call& function, const trace::Memory& memory,
                                       RemoteAddr address, std::span<std::byte> into) {
  std::span<std::byte> read = into.first(memory.read(address, into));
  if (is_wide_text(tables, tables.types[format_of(tables, function).type])) {
    std::size_t count = 0;
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= read.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t character = 0;
      std::memcpy(&character, read.data() + at, sizeof character);
      read[count++] = character < 0x80 ? static_cast<std::byte>(character) : std::byte{'?'};
    }
    read = read.first(count);
  }
  const auto end = std::find(read.begin(), read.end(), std::byte{0});
  return read.first(static_cast<std::size_t>(end - read.begin()));
}

}  // namespace

std::vector<spec::PassedValue> fixed_arguments(const Tables& tables, const spec::Call& function, Abi abi) {
  const auto& signature = tables.signatures[function.signature];
  std::size_t slots = 0;
  add_slots(tables, signature, abi, slots);
  std::vector<const Type*> types(slots, nullptr);
  for (const auto& param : Tables::slice(tables.params, signature.params)) {
    if (param.type != spec::none) {
      types[param.slot[index_of(abi)]] = &tables.types[param.type];
    }
  }
  std::vector<spec::PassedValue> values;
  for (std::size_t slot = 0; slot < slots;) {
    values.push_back(types[slot] != nullptr ? passed_value(tables, *types[slot], abi) : spec::PassedValue{});
    slot += values.back().words();
  }
  return values;
}

std::vector<ValueClass> variable_arguments(const Tables& tables, const spec::Call& function, Abi abi,
                                           std::span<const std::uint64_t> fixed, const trace::Memory& memory) {
  std::vector<ValueClass> classes;
  if (function.varargs == Varargs::none || fixed.empty()) {
    return classes;
  }
  std::array<std::byte, longest_format> buffer;
  const auto slot = std::min(slot_of_format(tables, function, abi), fixed.size() - 1);
  const RemoteAddr address(format::cut(fixed[slot], word_size(abi), false));
  for (const auto& argument :
       format_arguments(function.varargs, read_format(tables, function, memory, address, buffer), abi, fixed.size())) {
    classes.push_back(argument.value_class);
  }
  return classes;
}

spec::PassedValue result_of(const Tables& tables, const spec::Call& function, Abi abi) {
  const auto result = tables.signatures[function.signature].result;
  if (result == spec::none) {
    spec::PassedValue nothing;
    nothing.value_class = ValueClass::nothing;
    return nothing;
  }
  return passed_value(tables, tables.types[result], abi);
}

bool CallDecoder::returns_address() const {
  if (state_.call == nullptr || state_.signature->result == spec::none) {
    return false;
  }
  const Type& type = tables_.types[state_.signature->result];
  return state_.entry.function != nullptr &&
         (type.kind == TypeKind::pointer || (type.kind == TypeKind::scalar && type.style == spec::Style::address));
}

void CallDecoder::emit_function_result() {
  const Type& type = tables_.types[state_.signature->result];
  const auto bits = static_cast<std::uint64_t>(session_.outcome->value);
  if (state_.depth.raw) {
    emit_register(out_, bits);
  } else if (stored_type(tables_, type).kind == TypeKind::structure
                 ? session_.outcome->words.empty() || !structure_of(type, session_.outcome->words)
                 : !values_.value(type, Place::in_register(bits), Context::of(View::output))) {
    out_.address(RemoteAddr(bits));
  }
}

/// A structure that is passed by value, so that all of it went in. False if there are not as many words as it has.
bool CallDecoder::structure_of(const Type& type, std::span<const std::uint64_t> words) {
  const std::uint64_t size = session_.size_of(type);
  return words.size() * sizeof(std::uint64_t) >= size &&
         values_.value(type, Place::copied(std::as_bytes(words).first(static_cast<std::size_t>(size)), RemoteAddr()),
                       Context::of(View::output));
}

/// What follows the described arguments. The format is read again: if it has changed, so be it; there are as many
/// values as were fetched.
void CallDecoder::emit_variable_arguments() {
  const spec::Call& function = *state_.call;
  if (state_.variable_emitted) {
    return;
  }
  state_.variable_emitted = true;
  const auto values = std::span(std::as_const(state_.values));
  const std::size_t fixed = slot_of_format(tables_, function, session_.abi) + 1;
  if (values.size() <= fixed) {
    return;
  }
  const ScratchGuard guard(state_.scratch);
  const RemoteAddr format(format::cut(values[fixed - 1], word_size(session_.abi), false));
  const auto text = read_format(tables_, function, session_.memory, format, state_.scratch.take(longest_format));
  const auto arguments = format_arguments(function.varargs, text, session_.abi, fixed);
  const auto more = values.subspan(fixed);
  for (std::size_t i = 0; i < std::min(arguments.size(), more.size()) && session_.spend(); ++i) {
    out_.begin_argument({}, {}, more[i]);
    // scanf's result says how many of its pointers it has followed.
    const bool is_stored =
        !arguments[i].stored || (session_.outcome != nullptr && session_.outcome->value > static_cast<int>(i));
    if (!is_stored || !emit_format_argument(arguments[i], more, i)) {
      out_.address(RemoteAddr(format::cut(more[i], word_size(session_.abi), false)));
    }
    out_.end_argument();
  }
}

bool CallDecoder::emit_format_argument(const FormatArgument& argument, std::span<const std::uint64_t> values,
                                       std::size_t index) {
  const RemoteAddr address(format::cut(values[index], word_size(session_.abi), false));
  switch (argument.kind) {
    case FormatArgument::Kind::scalar: {
      if (!argument.stored) {
        values_.numbers().emit_scalar(argument.type, *session_.load(argument.type, Place::in_register(values[index])));
        return true;
      }
      const auto bits = address.is_null() ? std::nullopt : session_.load(argument.type, Place::remote(address));
      if (bits) {
        out_.begin_target();
        values_.numbers().emit_scalar(argument.type, *bits);
        out_.end_target();
      }
      return bits.has_value();
    }
    case FormatArgument::Kind::count:
      return false;
    case FormatArgument::Kind::text:
    case FormatArgument::Kind::wide_text:
      break;
  }
  RemoteAddr from = address;
  if (argument.is_allocated) {
    const auto allocated =
        session_.load(format::scalar_type(spec::word_wide, false, spec::Style::address), Place::remote(address));
    from = RemoteAddr(allocated.value_or(0));
  }
  std::uint64_t most = argument.limit.value_or(unlimited);
  if (argument.limit_from && *argument.limit_from < values.size()) {
    const auto given = static_cast<std::int32_t>(values[*argument.limit_from]);
    most = given < 0 ? unlimited : static_cast<std::uint64_t>(given);  // printf(3): a negative precision is none
  }
  if (from.is_null()) {
    return false;
  }
  return argument.kind == FormatArgument::Kind::wide_text ? values_.strings().limited_wide_text(from, most)
                                                          : values_.strings().limited_text(from, most);
}

}  // namespace tracer::decode
