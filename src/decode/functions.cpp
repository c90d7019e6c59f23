// Functions of libraries: the values they take, and the arguments that a format asks for.
#include <algorithm>
#include <array>
#include <utility>

#include "decode/format.h"
#include "decode/function_values.h"
#include "decode/walker.h"
#include "spell/scalars.h"

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

/// The slots of the longer forms that a function may have are integers.
void add_slots(const Tables& tables, const spec::Signature& signature, Abi abi, std::vector<ValueClass>& classes) {
  for (const auto& param : Tables::slice(tables.params, signature.params)) {
    if (param.type != spec::none) {
      const std::size_t slot = param.slot[index_of(abi)];
      classes.resize(std::max(classes.size(), slot + 1), ValueClass::integer);
    }
  }
  for (const auto& row : Tables::slice(tables.signature_rows, signature.rows)) {
    add_slots(tables, tables.signatures[row.signature], abi, classes);
  }
  if (signature.otherwise != spec::none) {
    add_slots(tables, tables.signatures[signature.otherwise], abi, classes);
  }
}

std::vector<FormatArgument> format_arguments(Varargs varargs, std::span<const std::byte> format, Abi abi,
                                             std::size_t fixed) {
  const std::size_t most = spec::most_parameters - std::min(fixed, spec::most_parameters);
  return varargs == Varargs::printf ? printf_arguments(format, abi, most) : scanf_arguments(format, abi, most);
}

/// Up to a NUL, the end of what can be read, or `into`'s.
std::span<const std::byte> read_format(const Memory& memory, RemoteAddr address, std::span<std::byte> into) {
  const auto read = into.first(memory.read(address, into));
  const auto end = std::find(read.begin(), read.end(), std::byte{0});
  return read.first(static_cast<std::size_t>(end - read.begin()));
}

std::size_t slot_of_format(const Tables& tables, const spec::Call& function) {
  return tables.signatures[function.signature].params.count - 1;
}

}  // namespace

std::vector<ValueClass> fixed_arguments(const Tables& tables, const spec::Call& function, Abi abi) {
  std::vector<ValueClass> classes;
  const auto& signature = tables.signatures[function.signature];
  add_slots(tables, signature, abi, classes);
  for (const auto& param : Tables::slice(tables.params, signature.params)) {
    if (param.type != spec::none) {
      classes[param.slot[index_of(abi)]] = class_of(tables, tables.types[param.type], abi);
    }
  }
  return classes;
}

std::vector<ValueClass> variable_arguments(const Tables& tables, const spec::Call& function, Abi abi,
                                           std::span<const std::uint64_t> fixed, const Memory& memory) {
  std::vector<ValueClass> classes;
  if (function.varargs == Varargs::none || fixed.empty()) {
    return classes;
  }
  std::array<std::byte, longest_format> buffer;
  const auto slot = std::min(slot_of_format(tables, function), fixed.size() - 1);
  const RemoteAddr address(spell::cut(fixed[slot], word_size(abi), false));
  for (const auto& argument :
       format_arguments(function.varargs, read_format(memory, address, buffer), abi, fixed.size())) {
    classes.push_back(argument.value_class);
  }
  return classes;
}

ValueClass result_class(const Tables& tables, const spec::Call& function, Abi abi) {
  const auto result = tables.signatures[function.signature].result;
  return result == spec::none ? ValueClass::nothing : class_of(tables, tables.types[result], abi);
}

bool Walker::returns_address() const {
  if (state_.call == nullptr || state_.signature->result == spec::none) {
    return false;
  }
  const Type& type = tables_.types[state_.signature->result];
  return state_.entry.function != nullptr &&
         (type.kind == TypeKind::pointer || (type.kind == TypeKind::scalar && type.style == spec::Style::address));
}

void Walker::emit_function_result() {
  const Type& type = tables_.types[state_.signature->result];
  const auto bits = static_cast<std::uint64_t>(outcome_->value);
  view_ = View::output;
  if (state_.depth.raw) {
    emit_register(bits);
  } else if (!value(type, Place::in_register(bits), nullptr)) {
    out_.address(RemoteAddr(bits));
  }
}

/// What follows the described arguments. The format is read again: if it has changed, so be it; there are as many
/// values as were fetched.
void Walker::emit_variable_arguments() {
  const spec::Call& function = *state_.call;
  if (function.varargs == Varargs::none || std::exchange(state_.variable_emitted, true)) {
    return;
  }
  const auto values = std::span(std::as_const(state_.values));
  const std::size_t fixed = slot_of_format(tables_, function) + 1;
  if (values.size() <= fixed) {
    return;
  }
  const ScratchGuard guard(state_.scratch);
  const RemoteAddr format(spell::cut(values[fixed - 1], word_size(abi_), false));
  const auto text = read_format(memory_, format, state_.scratch.take(longest_format));
  const auto arguments = format_arguments(function.varargs, text, abi_, fixed);
  const auto more = values.subspan(fixed);
  for (std::size_t i = 0; i < std::min(arguments.size(), more.size()) && spend(); ++i) {
    out_.begin_argument({}, {}, more[i]);
    // scanf's result says how many of its pointers it has followed.
    const bool is_stored = !arguments[i].stored || (outcome_ != nullptr && outcome_->value > static_cast<int>(i));
    if (!is_stored || !emit_format_argument(arguments[i], more, i)) {
      out_.address(RemoteAddr(spell::cut(more[i], word_size(abi_), false)));
    }
    out_.end_argument();
  }
}

bool Walker::emit_format_argument(const FormatArgument& argument, std::span<const std::uint64_t> values,
                                  std::size_t index) {
  const RemoteAddr address(spell::cut(values[index], word_size(abi_), false));
  switch (argument.kind) {
    case FormatArgument::Kind::scalar: {
      if (!argument.stored) {
        emit_scalar(argument.type, *load(argument.type, Place::in_register(values[index])));
        return true;
      }
      const auto bits = address.is_null() ? std::nullopt : load(argument.type, Place::remote(address));
      if (bits) {
        out_.begin_target();
        emit_scalar(argument.type, *bits);
        out_.end_target();
      }
      return bits.has_value();
    }
    case FormatArgument::Kind::count:
    case FormatArgument::Kind::wide_text:
      return false;
    case FormatArgument::Kind::text:
      break;
  }
  RemoteAddr from = address;
  if (argument.is_allocated) {
    const auto allocated =
        load(spell::scalar_type(spec::word_wide, false, spec::Style::address), Place::remote(address));
    from = RemoteAddr(allocated.value_or(0));
  }
  std::uint64_t most = argument.limit.value_or(unlimited);
  if (argument.limit_from && *argument.limit_from < values.size()) {
    const auto given = static_cast<std::int32_t>(values[*argument.limit_from]);
    most = given < 0 ? unlimited : static_cast<std::uint64_t>(given);  // printf(3): a negative precision is none
  }
  return !from.is_null() && limited_text(from, most);
}

/// Text up to a NUL, of which the function itself looks at `most` bytes only.
bool Walker::limited_text(RemoteAddr address, std::uint64_t most) {
  const std::uint64_t shown = std::min<std::uint64_t>(most, setting_.options.string_limit);
  const ScratchGuard guard(state_.scratch);
  const auto data = read_text(address, std::min(most, shown + 1));
  if (!data) {
    return false;
  }
  const auto end = std::find(data->begin(), data->end(), std::byte{0});
  const auto found = static_cast<std::uint64_t>(end - data->begin());
  render::StringForm form;
  form.cut = found > shown;
  out_.bytes(data->first(std::min(found, shown)), form);
  return true;
}

}  // namespace tracer::decode
