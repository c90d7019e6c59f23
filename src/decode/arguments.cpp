// The arguments of a call, each when it is known.
#include <algorithm>
#include <utility>

#include "decode/calls.h"
#include "format/scalars.h"

namespace tracer::decode {
namespace {

constexpr std::array<std::string_view, 6> argument_numbers = {"arg1", "arg2", "arg3", "arg4", "arg5", "arg6"};

}  // namespace

using spec::Direction;
using spec::Param;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

void emit_register(render::Emitter& out, std::uint64_t bits) {
  static const Type type = format::scalar_type(8, false, spec::Style::hex);
  out.scalar(bits, type);
}

void emit_guess(render::Emitter& out, std::uint64_t bits, Abi abi) {
  constexpr std::int64_t small = 10000;
  static const Type number = format::scalar_type(8, true, spec::Style::number);
  const bool is_narrow = register_size(abi) == 4;
  const auto value = is_narrow ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
  if (value >= -small && value <= small) {
    out.scalar(static_cast<std::uint64_t>(value), number);
  } else {
    emit_register(out, is_narrow ? static_cast<std::uint32_t>(bits) : bits);
  }
}

/// Nobody says what the function takes: the first words show, small ones as numbers, and that they are a guess.
void CallDecoder::emit_guesses() const {
  constexpr std::size_t shown = 4;
  out_.begin_call(state_.entry.function_name);
  for (std::size_t i = 0; i < shown; ++i) {
    out_.begin_argument({}, {}, state_.entry.args[i]);
    emit_guess(out_, state_.entry.args[i], state_.entry.abi);
    if (i + 1 == shown) {
      out_.comment("guess");
    }
    out_.end_argument();
  }
}

void CallDecoder::emit_unknown_call() const {
  if (!state_.entry.function_name.empty()) {
    emit_guesses();
    return;
  }
  TextBuffer& name = state_.unknown_name;
  name.clear();
  name.append("syscall_");
  name.hex_padded(reported_call_number(state_.entry.abi, state_.entry.number), 1);
  out_.begin_call(name.view());
  const bool named = out_.names() == render::Names::all;
  for (std::size_t i = 0; i < state_.entry.args.size(); ++i) {
    out_.begin_argument(named ? argument_numbers.at(i) : std::string_view{}, {}, state_.entry.args[i]);
    emit_register(out_, state_.entry.args[i]);
    out_.end_argument();
  }
}

/// -e raw: the registers as they are; of a form that stands for another call, those behind the number of that.
void CallDecoder::emit_raw_arguments() const {
  const bool is_renamed = state_.signature->shown != spec::none;
  const auto& signature = is_renamed ? *state_.signature : tables_.signatures[state_.call->signature];
  const std::span<const std::uint64_t> values =
      state_.entry.function != nullptr
          ? std::span<const std::uint64_t>(state_.values)
          : std::span(state_.entry.args).first(tables_.register_count(signature, session_.abi));
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  // With -N strace has no names for what it shows as it is.
  const bool numbered = out_.names() == render::Names::all && state_.entry.function == nullptr;
  const std::size_t first = is_renamed ? 1 : 0;
  for (std::size_t i = first; i < values.size(); ++i) {
    const auto param =
        std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.slot[index_of(session_.abi)] == i; });
    const bool described = param != params.end() && param->type != spec::none;
    const std::string_view name = described ? tables_.text(param->name) : std::string_view{};
    out_.begin_argument(numbered ? argument_numbers.at(i - first) : name,
                        described ? tables_.text(tables_.types[param->type].name) : std::string_view{}, values[i]);
    emit_register(out_, values[i]);
    out_.end_argument();
  }
}

/// The type of an argument that is a number and shows at once; null if it is another. Most are, and need none of the
/// questions that others raise.
const Type* CallDecoder::plain_type(const Param& param) const {
  if (param.type == spec::none || param.condition != spec::none || param.at_exit) {
    return nullptr;
  }
  const Type& type = tables_.types[param.type];
  return Session::is_number(type) ? &type : nullptr;
}

/// Emits the plain arguments from the next one on, if that is not begun.
void CallDecoder::emit_plain(std::span<const Param> params) {
  if (state_.half_emitted || state_.argument_open) {
    return;
  }
  const bool shows_names = out_.names() != render::Names::none;
  spec::Index next = state_.next_param;
  for (; next < params.size(); ++next) {
    const Param& param = params[next];
    const Type* const type = plain_type(param);
    if (type == nullptr) {
      break;
    }
    const std::uint64_t raw = evaluator_.raw_argument(param);
    shows_names || param.named ? announce(param, raw) : out_.begin_argument({}, {}, raw);
    state_.budget.spend_value() ? values_.numbers().emit_scalar(*type, session_.in_register(*type, raw))
                                : out_.symbol("...");
    out_.end_argument();
  }
  if (state_.next_param != next) {
    state_.next_param = next;
    session_.charge();  // with all of these at once, as a number's text is short
  }
}

/// Whether the argument cannot show in full before the exit. An argument whose length cannot be read shows as an
/// address at the entry too.
bool CallDecoder::waits_for_exit(const Param& param) const {
  if (!param.at_exit) {
    return in_out_.includes(param);
  }
  const Type& type = tables_.types[param.type];
  if (type.direction != Direction::out || type.kind != TypeKind::pointer) {
    return true;
  }
  const Type& target = tables_.types[type.target];
  const std::array lengths = {type.sized_by, target.length, target.budget};
  return std::none_of(lengths.begin(), lengths.end(), [&](spec::ExprId length) {
    return length != spec::none && !evaluator_.mentions_result(length) && !evaluator_.evaluate(length, no_context);
  });
}

void CallDecoder::emit_arguments() {
  if (state_.call == nullptr) {
    return;
  }
  if (state_.depth.raw) {
    if (session_.outcome == nullptr) {
      emit_raw_arguments();
    }
    return;
  }
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  emit_plain(params);
  while (state_.next_param < params.size()) {
    if (!emit_other(params[state_.next_param])) {
      return;
    }
    ++state_.next_param;
    emit_plain(params);
  }
  if (state_.call->varargs != spec::Varargs::none &&
      (session_.outcome != nullptr || state_.call->varargs == spec::Varargs::printf)) {
    emit_variable_arguments();
  }
}

/// Emits the argument, or what is known of it. False if the rest, and with it all others, waits for the exit.
bool CallDecoder::emit_other(const Param& param) {
  if (state_.half_emitted) {
    if (!state_.argument_open) {
      begin_argument(param, evaluator_.raw_argument(param));
    }
    in_out_.emit_after(param);
    state_.half_emitted = false;
    state_.argument_open = false;
    out_.end_argument();
    return true;
  }
  if (!state_.argument_open && (param.type == spec::none || !evaluator_.holds(param.condition, no_context))) {
    return true;
  }
  const std::uint64_t raw = evaluator_.raw_argument(param);
  if (session_.outcome == nullptr && waits_for_exit(param)) {
    if (shows_at_entry(param)) {
      begin_argument(param, raw);
      if (emit_partial(param, raw)) {
        return false;
      }
      state_.argument_open = false;
      out_.end_argument();
      return true;
    }
    // The comma before an argument belongs to what shows of it.
    if (!in_out_.includes(param) || in_out_.defers(param)) {
      return false;
    }
    begin_argument(param, raw);
    if (in_out_.emit_before(param)) {
      return false;
    }
    state_.argument_open = false;
    out_.end_argument();
    return true;
  }
  if (!state_.argument_open) {
    begin_argument(param, raw);
  }
  state_.argument_open = false;
  emit_argument(param, raw);
  out_.end_argument();
  return true;
}

void CallDecoder::announce(const Param& param, std::uint64_t raw) const {
  if (out_.names() == render::Names::none) {
    out_.begin_argument({}, {}, raw);
  } else {
    out_.begin_argument(tables_.text(param.name), tables_.text(tables_.types[param.type].name), raw);
  }
  if (param.named) {
    out_.show_argument_name(tables_.text(param.name));
  }
}

void CallDecoder::begin_argument(const Param& param, std::uint64_t raw) const {
  announce(param, raw);
  state_.argument_open = true;
}

void CallDecoder::emit_argument(const Param& param, std::uint64_t raw) {
  const Type& type = tables_.types[param.type];
  Context context;
  context.slot = param.slot[index_of(session_.abi)];
  if (stored_type(tables_, type).kind == TypeKind::structure && state_.entry.function != nullptr) {
    const auto slot = std::min<std::size_t>(context.slot, state_.values.size());
    if (!structure_of(type, std::span(std::as_const(state_.values)).subspan(slot))) {
      out_.address(RemoteAddr(raw));
    }
  } else if (type.kind != TypeKind::pointer) {
    if (!values_.value(type, Place::in_register(raw), context)) {
      out_.address(RemoteAddr(raw));
    }
  } else if (!evaluator_.holds(param.when, no_context) && !in_out_.was_kept(param, raw)) {
    out_.address(RemoteAddr(*session_.load(type, Place::in_register(raw))));
  } else if (session_.outcome != nullptr && in_out_.includes(param)) {
    in_out_.emit_both(param, raw);
  } else {
    Unread unread;
    context.view = type.direction == Direction::out ? View::output : View::input;
    // A `when` that looks at the result knows better than success or failure whether there is something to see, and
    // `when 1` says that there always is.
    context.filled = param.when != spec::none &&
                     (evaluator_.mentions_result(param.when) || tables_.exprs[param.when].op == spec::ExprOp::literal);
    context.unread = &unread;
    state_.struct_open ? emit_rest(type, raw, context) : void(values_.follow(type, Place::in_register(raw), context));
    state_.unreadable = state_.unreadable || (unread.any && type.direction == Direction::out);
  }
}

}  // namespace tracer::decode
