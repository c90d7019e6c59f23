#include "explain/record_emitter.h"

#include "base/text_buffer.h"
#include "format/constants.h"
#include "format/error_names.h"
#include "format/scalars.h"

namespace tracer::explain {

namespace {

constexpr std::size_t max_members = 64;  // per value; further members are dropped

}  // namespace

void RecordEmitter::begin_alone() {
  alone_ = {};
  open_.assign(1, {nullptr, &alone_});
}

void RecordEmitter::begin_call(std::string_view name) {
  call_ = {};
  call_.name = name;
  open_.clear();
}

void RecordEmitter::begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) {
  Argument& argument = call_.args.emplace_back();
  argument.name = name;
  argument.type = type;
  argument.raw = raw;
  open_.assign(1, {nullptr, &argument.value});
}

void RecordEmitter::begin_result(const render::CallResult& result) {
  switch (result.kind) {
    case render::CallResult::Kind::value:
      call_.outcome = CallOutcome::returned;
      call_.result = result.value;
      break;
    case render::CallResult::Kind::error: {
      call_.outcome = CallOutcome::failed;
      const std::string_view name = format::error_name(result.error);
      call_.error = name.empty() ? std::to_string(result.error) : std::string(name);
      break;
    }
    case render::CallResult::Kind::unknown:
    case render::CallResult::Kind::nothing:
      break;
  }
  open_.assign(1, {nullptr, &call_.result_value});
}

void RecordEmitter::begin_note(std::string_view, bool) {
  note_ = {};
  open_.assign(1, {nullptr, &note_});
}

void RecordEmitter::end_note() {
  if (note_.kind != Value::Kind::none) {
    call_.note = note_.kind == Value::Kind::text ? note_.text : to_text(note_);
  }
  open_.clear();
}

Value& RecordEmitter::put(Value::Kind kind) {
  ++written_;
  Value& value = open_.empty() || open_.back().slot == nullptr ? nowhere_ : *open_.back().slot;
  value = {};
  value.kind = kind;
  return value;
}

void RecordEmitter::begin(Value::Kind kind) {
  Value& value = put(kind);
  open_.push_back({&value, nullptr});
}

void RecordEmitter::end() {
  if (open_.size() > 1) {
    open_.pop_back();
  }
}

void RecordEmitter::begin_field(std::string_view name, std::string_view) {
  ++written_;
  if (open_.empty() || open_.back().holder == nullptr) {
    return;
  }
  Level& level = open_.back();
  if (level.holder->members.size() == max_members) {
    level.holder->cut = true;
    level.slot = nullptr;
    return;
  }
  Member& member = level.holder->members.emplace_back();
  member.name = name;
  level.slot = &member.value;
}

void RecordEmitter::more() {
  ++written_;
  if (!open_.empty() && open_.back().holder != nullptr) {
    open_.back().holder->cut = true;
  }
}

void RecordEmitter::scalar(std::uint64_t bits, const spec::Type& type) {
  if (type.style == spec::Style::address || type.style == spec::Style::tls) {
    address(RemoteAddr(bits));
    return;
  }
  if (format::is_plain_number(type.style)) {
    put(Value::Kind::number).number = static_cast<std::int64_t>(bits);
    return;
  }
  TextBuffer text;
  format::append_scalar(text, bits, type, format::ConstantForm::abbreviate);
  put(Value::Kind::words).text = text.view();
}

void RecordEmitter::constant(std::uint64_t bits, const spec::Type& type, Abi abi) {
  TextBuffer text;
  format::append_constant(text, tables_, type, bits, abi, format::ConstantForm::abbreviate);
  put(Value::Kind::words).text = text.view();
}

void RecordEmitter::bytes(std::span<const std::byte> data, render::StringForm form) {
  Value& value = put(Value::Kind::text);
  value.text.assign(reinterpret_cast<const char*>(data.data()), data.size());
  value.cut = form.cut;
}

void RecordEmitter::address(RemoteAddr address) {
  if (address.is_null()) {
    put(Value::Kind::none);
    return;
  }
  TextBuffer text;
  text.hex(address.value());
  put(Value::Kind::words).text = text.view();
}

void RecordEmitter::symbol(std::string_view text) {
  put(Value::Kind::words).text = text;
}

void RecordEmitter::put_name(const render::SymbolicName& name) {
  std::string text(name.before);
  if (!name.quoted.empty()) {
    text.append(1, '"').append(name.quoted).append(1, '"');
  }
  put(Value::Kind::words).text = text.append(name.after);
}

void RecordEmitter::named(const render::SymbolicName& name, std::uint64_t, const spec::Type&) {
  put_name(name);
}

void RecordEmitter::named_bytes(const render::SymbolicName& name, std::span<const std::byte>) {
  put_name(name);
}

void RecordEmitter::annotation(std::string_view text, std::string_view) {
  if (!open_.empty() && open_.back().slot != nullptr) {
    open_.back().slot->name = text;
  }
}

}  // namespace tracer::explain
