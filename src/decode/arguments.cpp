// The arguments of a call, each when it is known.
#include <algorithm>
#include <utility>

#include "decode/walker.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Direction;
using spec::Param;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

/// As it is: for numbers without a description, and -e raw.
void Walker::emit_register(std::uint64_t bits) {
  static const Type type = format::scalar_type(8, false, spec::Style::hex);
  out_.scalar(bits, type);
}

/// Nobody says what the function takes: the first words, small ones as numbers, and that they are a guess.
void Walker::emit_guesses() {
  constexpr std::size_t shown = 4;
  out_.begin_call(state_.entry.function_name);
  for (std::size_t i = 0; i < shown; ++i) {
    out_.begin_argument({}, {}, state_.entry.args[i]);
    emit_guess(state_.entry.args[i]);
    if (i + 1 == shown) {
      out_.comment("guess");
    }
    out_.end_argument();
  }
}

void Walker::emit_guess(std::uint64_t bits) {
  constexpr std::int64_t small = 10000;
  static const Type number = format::scalar_type(8, true, spec::Style::number);
  const auto value = static_cast<std::int64_t>(bits);
  if (value >= -small && value <= small) {
    out_.scalar(bits, number);
  } else {
    emit_register(bits);
  }
}

/// The number as the kernel tells it: with the bit of x32, and below zero where registers have 32 bits.
static std::uint64_t told_number(const Entry& entry) {
  constexpr std::uint64_t x32_bit = 0x40000000;
  if (register_size(entry.abi) == 4) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(entry.number)});
  }
  return entry.abi == Abi::x32 ? entry.number | x32_bit : entry.number;
}

void Walker::emit_unknown_call() {
  if (!state_.entry.function_name.empty()) {
    emit_guesses();
    return;
  }
  TextBuffer& name = state_.unknown_name;
  name.clear();
  name.append("syscall_");
  name.hex_padded(told_number(state_.entry), 1);
  out_.begin_call(name.view());
  for (const std::uint64_t arg : state_.entry.args) {
    out_.begin_argument({}, {}, arg);
    emit_register(arg);
    out_.end_argument();
  }
}

/// -e raw: the registers as they are; of a form that stands for another call, those behind the number of that.
void Walker::emit_raw_arguments() {
  const bool is_renamed = state_.signature->shown != spec::none;
  const auto& signature = is_renamed ? *state_.signature : tables_.signatures[state_.call->signature];
  const std::span<const std::uint64_t> values =
      state_.entry.function != nullptr ? std::span<const std::uint64_t>(state_.values)
                                       : std::span(state_.entry.args).first(tables_.register_count(signature, abi_));
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  for (std::size_t i = is_renamed ? 1 : 0; i < values.size(); ++i) {
    const auto param =
        std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.slot[index_of(abi_)] == i; });
    const bool described = param != params.end() && param->type != spec::none;
    out_.begin_argument(described ? tables_.text(param->name) : std::string_view{},
                        described ? tables_.text(tables_.types[param->type].name) : std::string_view{}, values[i]);
    emit_register(values[i]);
    out_.end_argument();
  }
}

/// Whether the argument cannot show in full before the exit. One whose length cannot be read is an address whatever
/// comes.
bool Walker::waits_for_exit(const Param& param) {
  if (!param.at_exit) {
    return comes_in_halves(param);
  }
  const Type& type = tables_.types[param.type];
  if (type.direction != Direction::out || type.kind != TypeKind::pointer) {
    return true;
  }
  const Type& target = tables_.types[type.target];
  const std::array lengths = {type.sized_by, target.length, target.budget};
  return std::none_of(lengths.begin(), lengths.end(), [&](spec::ExprId length) {
    return length != spec::none && !mentions_result(length) && !evaluate(length, no_context);
  });
}

void Walker::emit_arguments() {
  if (state_.call == nullptr) {
    return;
  }
  if (state_.depth.raw) {
    if (outcome_ == nullptr) {
      emit_raw_arguments();
    }
    return;
  }
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  for (; state_.next_param < params.size(); ++state_.next_param) {
    const Param& param = params[state_.next_param];
    if (state_.half_emitted) {
      emit_second_half(param);
      state_.half_emitted = false;
      state_.argument_open = false;
      out_.end_argument();
      continue;
    }
    if (!state_.argument_open && (param.type == spec::none || !holds(param.condition, no_context))) {
      continue;
    }
    const std::uint64_t raw = raw_argument(param);
    if (outcome_ == nullptr && waits_for_exit(param)) {
      if (shows_beginning(param)) {
        begin_argument(param, raw);
        if (emit_beginning(param, raw)) {
          return;
        }
        state_.argument_open = false;
        out_.end_argument();
        continue;
      }
      if (!param.late) {
        begin_argument(param, raw);
      }
      if (!comes_in_halves(param) || emit_first_half(param)) {
        return;
      }
      state_.argument_open = false;
      out_.end_argument();
      continue;
    }
    if (!std::exchange(state_.argument_open, false)) {
      begin_argument(param, raw);
      state_.argument_open = false;
    }
    emit_argument(param, raw);
    out_.end_argument();
  }
  if (outcome_ != nullptr || state_.call->varargs == spec::Varargs::printf) {
    emit_variable_arguments();
  }
}

void Walker::begin_argument(const Param& param, std::uint64_t raw) {
  const bool told = out_.wants_names();
  out_.begin_argument(told ? tables_.text(param.name) : std::string_view{},
                      told ? tables_.text(tables_.types[param.type].name) : std::string_view{}, raw);
  if (param.named) {
    out_.show_argument_name(tables_.text(param.name));
  }
  state_.argument_open = true;
}

void Walker::emit_argument(const Param& param, std::uint64_t raw) {
  const Type& type = tables_.types[param.type];
  Context context;
  context.slot = param.slot[index_of(abi_)];
  if (type.kind == TypeKind::structure && state_.entry.function != nullptr) {
    const auto slot = std::min<std::size_t>(context.slot, state_.values.size());
    if (!structure_of(type, std::span(std::as_const(state_.values)).subspan(slot))) {
      out_.address(RemoteAddr(raw));
    }
  } else if (type.kind != TypeKind::pointer) {
    if (!value(type, Place::in_register(raw), context)) {
      out_.address(RemoteAddr(raw));
    }
  } else if (!holds(param.when, no_context)) {
    out_.address(RemoteAddr(*load(type, Place::in_register(raw))));
  } else if (outcome_ != nullptr && param.was) {
    emit_as_it_was(type, raw);
  } else if (outcome_ != nullptr && comes_in_halves(param)) {
    emit_both_halves(type, raw);
  } else {
    Unread unread;
    context.view = type.direction == Direction::out ? View::output : View::input;
    // A `when` that looks at the result knows better than success or failure whether there is something to see, and
    // `when 1` says that there always is.
    context.filled = param.when != spec::none &&
                     (mentions_result(param.when) || tables_.exprs[param.when].op == spec::ExprOp::literal);
    context.unread = &unread;
    std::exchange(state_.struct_open, false) ? emit_rest(type, raw, context)
                                             : void(follow(type, Place::in_register(raw), context));
    state_.unreadable = state_.unreadable || (unread.any && type.direction == Direction::out);
  }
}

}  // namespace tracer::decode
