// A call as a whole: which description, which arguments when, and the result.
#include <algorithm>
#include <utility>

#include "decode/walker.h"
#include "render/constants.h"
#include "render/dates.h"
#include "render/scalars.h"

namespace tracer::decode {

using render::CallResult;
using spec::Direction;
using spec::Param;
using spec::Signature;
using spec::Tables;
using spec::Type;
using spec::TypeKind;

namespace {

/// What is kept of an argument's target from entry to exit.
constexpr std::uint64_t max_saved = 4096;

constexpr unsigned max_redirects = 2;
constexpr unsigned max_signature_depth = 8;

const Type raw_type = render::scalar_type(8, false, spec::Style::hex);

}  // namespace

Walker::Walker(const Setting& setting, CallState& state, const Memory& memory, render::Emitter& out,
               const Outcome* outcome)
    : setting_(setting),
      tables_(setting.tables),
      state_(state),
      memory_(memory, state.budget),
      out_(out),
      outcome_(outcome),
      abi_(state.entry.abi),
      written_(out.written()) {}

void Walker::enter() {
  state_.budget = Budget(setting_.options.string_limit);
  settle_on_call();
  if (state_.call == nullptr) {
    emit_unknown_call();
    return;
  }
  const bool is_renamed = state_.signature->shown != spec::none && !state_.depth.raw;
  out_.begin_call(tables_.text(is_renamed ? state_.signature->shown : state_.call->name));
  save_targets();
  emit_arguments();
}

void Walker::exit() {
  emit_arguments();
  out_.end_arguments();
  emit_result();
}

void Walker::settle_on_call() {
  state_.previous_call = state_.call;
  state_.call = tables_.find(abi_, state_.entry.number);
  state_.signature = nullptr;
  state_.next_param = 0;
  state_.half_emitted = false;
  state_.argument_open = false;
  state_.unreadable = false;
  state_.saved.clear();
  state_.saved_bytes.clear();
  if (state_.call == nullptr) {
    return;
  }
  for (unsigned i = 0; i < max_redirects && state_.call->redirect != spec::none; ++i) {
    state_.signature = &tables_.signatures[state_.call->signature];
    const auto* before = state_.call;
    follow_redirect();
    if (state_.call == before) {
      break;
    }
  }
  settle_on_signature();
}

void Walker::follow_redirect() {
  const auto chosen = evaluate(state_.call->redirect, nullptr);
  if (!chosen) {
    return;
  }
  const auto rows = Tables::slice(tables_.redirects, state_.call->redirects);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const spec::Redirect& r) {
    return r.value == static_cast<std::uint64_t>(*chosen);
  });
  if (row == rows.end()) {
    return;
  }
  auto& args = state_.entry.args;
  if (state_.call->redirect_args == spec::none) {
    std::rotate(args.begin(), args.begin() + 1, args.end());
    args.back() = 0;
  } else {
    const unsigned width = word_size(abi_);
    const RemoteAddr from(raw_argument(tables_.params[state_.call->redirect_args]));
    std::array<std::byte, 6 * 8> raw{};
    const auto wanted = std::span(raw).first(args.size() * width);
    if (memory_.read(from, wanted) < width) {
      return;
    }
    for (std::size_t i = 0; i < args.size(); ++i) {
      std::uint64_t word = 0;
      std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  std::as_writable_bytes(std::span(&word, 1)).begin());
      args[i] = word;
    }
  }
  state_.call = &tables_.calls[row->call];
}

void Walker::settle_on_signature() {
  state_.signature = &tables_.signatures[state_.call->signature];
  for (unsigned i = 0; i < max_signature_depth && state_.signature->selector != spec::none; ++i) {
    const Signature& here = *state_.signature;
    spec::Index next = here.otherwise;
    if (const auto selected = evaluate(here.selector, nullptr)) {
      const auto row = find_row(here, static_cast<std::uint64_t>(*selected));
      next = row != spec::none ? row : next;
    }
    if (next == spec::none) {
      break;
    }
    state_.signature = &tables_.signatures[next];
  }
}

/// The form of a call that a selector's value stands for.
spec::Index Walker::find_row(const Signature& signature, std::uint64_t value) const {
  constexpr std::uint64_t ioctl_size_bits = 0x3fff0000;
  const auto rows = Tables::slice(tables_.signature_rows, signature.rows);
  for (const bool any_size : {false, true}) {
    const auto wanted = any_size ? value & ~ioctl_size_bits : value;
    auto row = std::lower_bound(rows.begin(), rows.end(), wanted,
                                [](const spec::SignatureRow& r, std::uint64_t v) { return r.value < v; });
    for (; row != rows.end() && row->value == wanted; ++row) {
      if ((row->abis & mask_of(abi_)) != 0 && row->any_size == any_size) {
        return row->signature;
      }
    }
  }
  return spec::none;
}

void Walker::emit_unknown_call() {
  TextBuffer& name = state_.unknown_name;
  name.clear();
  name.append("syscall_");
  name.hex_padded(state_.entry.number, 1);
  out_.begin_call(name.view());
  for (const std::uint64_t arg : state_.entry.args) {
    out_.begin_argument({}, {}, arg);
    out_.scalar(arg, raw_type);
    out_.end_argument();
  }
}

/// -e raw: the registers as they are.
void Walker::emit_raw_arguments() {
  const auto count = tables_.register_count(tables_.signatures[state_.call->signature], abi_);
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  for (std::size_t i = 0; i < count; ++i) {
    const auto param =
        std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.slot[index_of(abi_)] == i; });
    const bool described = param != params.end() && param->type != spec::none;
    out_.begin_argument(described ? tables_.text(param->name) : std::string_view{},
                        described ? tables_.text(tables_.types[param->type].name) : std::string_view{},
                        state_.entry.args[i]);
    out_.scalar(state_.entry.args[i], raw_type);
    out_.end_argument();
  }
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
    if (!state_.argument_open && (param.type == spec::none || !holds(param.condition, nullptr))) {
      continue;
    }
    const bool in_halves = comes_in_halves(param);
    if (outcome_ == nullptr && (param.at_exit || in_halves)) {
      begin_argument(param);
      if (in_halves) {
        state_.half_emitted = true;
        state_.half_readable = emit_first_half(param);
      }
      return;
    }
    if (!std::exchange(state_.argument_open, false)) {
      begin_argument(param);
      state_.argument_open = false;
    }
    emit_argument(param);
    out_.end_argument();
  }
}

void Walker::begin_argument(const Param& param) {
  const auto type_name = tables_.text(tables_.types[param.type].name);
  out_.begin_argument(tables_.text(param.name), type_name, raw_argument(param));
  if (param.named) {
    out_.show_argument_name(tables_.text(param.name));
  }
  state_.argument_open = true;
}

void Walker::emit_argument(const Param& param) {
  const Type& type = tables_.types[param.type];
  const auto raw = raw_argument(param);
  slot_ = param.slot[index_of(abi_)];
  if (type.kind != TypeKind::pointer) {
    if (!value(type, Place::in_register(raw), nullptr)) {
      out_.address(RemoteAddr(raw));
    }
  } else if (!holds(param.when, nullptr)) {
    out_.address(RemoteAddr(*load(type, Place::in_register(raw))));
  } else if (outcome_ != nullptr && comes_in_halves(param)) {
    emit_both_halves(type, raw);
  } else {
    view_ = type.direction == Direction::out ? View::output : View::input;
    // A `when` that looks at the result knows better than success or failure whether there is something to see, and
    // `when 1` says that there always is.
    filled_ = param.when != spec::none &&
              (mentions_result(param.when) || tables_.exprs[param.when].op == spec::ExprOp::literal);
    shown_ = true;
    follow(type, Place::in_register(raw), nullptr);
    state_.unreadable = state_.unreadable || (!shown_ && type.direction == Direction::out);
    filled_ = false;
  }
}

bool Walker::comes_in_halves(const Param& param) const {
  const Type& type = tables_.types[param.type];
  if (type.kind != TypeKind::pointer || type.direction == Direction::out) {
    return false;
  }
  if (type.direction == Direction::inout) {
    return true;
  }
  const Type& target = tables_.types[type.target];
  if (target.kind != TypeKind::structure) {
    return false;
  }
  const auto fields = Tables::slice(tables_.fields, tables_.structs[target.index].fields);
  return std::any_of(fields.begin(), fields.end(), [](const spec::Field& f) { return f.after; });
}

bool Walker::emit_first_half(const Param& param) {
  const Type& type = tables_.types[param.type];
  const RemoteAddr address(*load(type, Place::in_register(raw_argument(param))));
  view_ = View::before;
  if (address.is_null() || !holds(param.when, nullptr) || !target(type, address, nullptr)) {
    out_.address(address);
    return false;
  }
  return true;
}

void Walker::emit_second_half(const Param& param) {
  const Type& type = tables_.types[param.type];
  if (!state_.half_readable || !succeeded()) {
    return;
  }
  const auto bits = *load(type, Place::in_register(raw_argument(param)));
  if (type.direction != Direction::inout) {
    emit_after_fields(type, bits);
    return;
  }
  const RemoteAddr address(bits);
  const Type& target_type = tables_.types[type.target];
  if (target_type.kind == TypeKind::scalar &&
      load(target_type, saved_at(address, size_of(target_type))) == load(target_type, Place::remote(address))) {
    return;
  }
  view_ = View::after;
  out_.changed();
  if (!target(type, address, nullptr)) {
    out_.address(address);
  }
}

/// An inout argument after one that had to wait for the exit: `[128 => 16]`, or `[16]` if it did not change.
void Walker::emit_both_halves(const Type& pointer, std::uint64_t bits) {
  bits = *load(pointer, Place::in_register(bits));
  const RemoteAddr address(bits);
  const Type& type = tables_.types[pointer.target];
  const Place before = saved_at(address, size_of(type));
  view_ = View::output;
  if (pointer.direction != Direction::inout || before.kind != Place::Kind::copied) {
    if (address.is_null() || before.kind != Place::Kind::copied || !target(pointer, address, nullptr)) {
      out_.address(address);
    } else if (succeeded()) {
      emit_after_fields(pointer, bits);
    }
    return;
  }
  if (type.kind == TypeKind::scalar) {
    const auto old_bits = load(type, before);
    const auto new_bits = succeeded() ? load(type, Place::remote(address)) : old_bits;
    out_.begin_target();
    emit_scalar(type, old_bits.value_or(0));
    if (new_bits && new_bits != old_bits) {
      out_.changed();
      emit_scalar(type, *new_bits);
    }
    out_.end_target();
    return;
  }
  view_ = View::before;
  if (!value(type, before, nullptr)) {
    out_.address(address);
    return;
  }
  if (succeeded()) {
    view_ = View::after;
    out_.changed();
    if (!target(pointer, address, nullptr)) {
      out_.address(address);
    }
  }
}

/// ` => {parent_tid=[123]}`: fields that point to what the call has filled in.
void Walker::emit_after_fields(const Type& pointer, std::uint64_t bits) {
  const Type& type = tables_.types[pointer.target];
  if (type.kind != TypeKind::structure) {
    return;
  }
  const ScratchGuard guard(state_.scratch);
  Scope scope;
  scope.type = &tables_.structs[type.index];
  const auto bytes =
      copy(Place::remote(RemoteAddr(bits)), scope.type->min_size != 0 ? scope.type->min_size : size_of(type));
  if (!bytes) {
    return;
  }
  scope.place = Place::copied(*bytes, RemoteAddr(bits));
  bool any = false;
  for (const spec::Field& field : Tables::slice(tables_.fields, scope.type->fields)) {
    if (!field.after || !holds(field.condition, &scope)) {
      continue;
    }
    const Type& field_type = tables_.types[field.type];
    const auto address = load(field_type, scope.place.at(field.offset[index_of(abi_)]));
    if (!address || *address == 0) {
      continue;
    }
    if (!any) {
      out_.changed();
      out_.begin_struct();
      any = true;
    }
    out_.begin_field(tables_.text(field.name), tables_.text(field_type.name));
    view_ = View::output;
    follow(field_type, Place::in_register(*address), &scope);
  }
  if (any) {
    out_.end_struct();
  }
}

void Walker::save_targets() {
  const auto params = Tables::slice(tables_.params, state_.signature->params);
  for (spec::Index i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    if (!param.saved || param.type == spec::none || tables_.types[param.type].kind != TypeKind::pointer) {
      continue;
    }
    const Type& pointer = tables_.types[param.type];
    const RemoteAddr address(*load(pointer, Place::in_register(raw_argument(param))));
    const auto size = std::min(size_of(tables_.types[pointer.target]), max_saved);
    if (address.is_null() || size == 0) {
      continue;
    }
    const auto offset = state_.saved_bytes.size();
    state_.saved_bytes.resize(offset + size);
    const auto into = std::span(state_.saved_bytes).subspan(offset, size);
    if (memory_.read(address, into) == size) {
      state_.saved.push_back({state_.signature->params.first + i, address, offset, size});
    } else {
      state_.saved_bytes.resize(offset);
    }
  }
}

Place Walker::saved_at(RemoteAddr address, std::size_t size) const {
  for (const SavedTarget& saved : state_.saved) {
    const auto offset = address.value() - saved.address.value();
    if (offset < saved.size && size <= saved.size - offset) {
      return Place::copied(std::span(state_.saved_bytes).subspan(saved.offset + offset, saved.size - offset), address);
    }
  }
  return Place::remote(address);
}

void Walker::emit_result() {
  CallResult result;
  result.value = outcome_->value;
  if (!outcome_->known) {
    result.kind = CallResult::Kind::unknown;
  } else if (outcome_->is_error) {
    result.kind = CallResult::Kind::error;
    result.error = static_cast<int>(-outcome_->value);
  }
  out_.begin_result(result);
  if (result.kind == CallResult::Kind::value) {
    // What is no error is no negative number either, whatever the type says: -2 shows as a register's worth of bits.
    static const Type plain = render::scalar_type(8, false, spec::Style::number);
    const auto bits = register_size(abi_) == 4 ? static_cast<std::uint32_t>(outcome_->value)
                                               : static_cast<std::uint64_t>(outcome_->value);
    const bool described = state_.call != nullptr && state_.signature->result != spec::none;
    const Type& type = described ? tables_.types[state_.signature->result] : plain;
    if (state_.depth.raw) {
      out_.scalar(bits, raw_type);
    } else if (type.kind == TypeKind::scalar && type.style == spec::Style::number && type.set == spec::none) {
      out_.scalar(bits, plain);
    } else if (type.kind == TypeKind::scalar) {
      emit_scalar(type, *load(type, Place::in_register(bits)));  // whatever the arguments have cost
    } else if (!value(type, Place::in_register(bits), nullptr)) {
      out_.scalar(bits, plain);
    }
    if (state_.call != nullptr && state_.signature->note != spec::none && !state_.depth.raw) {
      emit_note(bits);
    }
  }
  out_.end_result();
}

/// A number without a name: `= 0`, not `= 0 (flags 0)`.
bool Walker::explains_nothing(const Type& note, std::uint64_t bits) const {
  if (note.kind != TypeKind::scalar) {
    return false;
  }
  if (note.set != spec::none) {
    const auto& set = tables_.sets[note.set];
    return set.is_flags ? bits == 0 && !render::has_name_for_zero(tables_, note.set)
                        : set.unknown == spec::none && render::constant_name(tables_, note.set, bits, abi_).empty();
  }
  return bits == 0 && (note.style == spec::Style::signal || note.style == spec::Style::time);
}

void Walker::emit_note(std::uint64_t bits) {
  const Type& note = tables_.types[state_.signature->note];
  if ((state_.unreadable && note.kind == TypeKind::scalar) || explains_nothing(note, bits)) {
    return;
  }
  out_.begin_note(tables_.text(state_.signature->note_prefix));
  if (note.style == spec::Style::time && note.kind == TypeKind::scalar) {
    TextBuffer& date = state_.words;
    date.clear();
    render::append_date(date, static_cast<std::int64_t>(bits), 0, 0);
    out_.symbol(date.view());
    out_.end_note();
    return;
  }
  value(note, Place::in_register(bits), nullptr);
  out_.end_note();
}

}  // namespace tracer::decode
