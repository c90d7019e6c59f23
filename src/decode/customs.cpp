#include "decode/customs.h"

#include <algorithm>

#include "format/scalars.h"

namespace tracer::decode {

using spec::Type;

namespace {

spec::SetId find_set(const spec::Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.sets.begin(), tables.sets.end(),
                                  [&](const spec::ConstantSet& s) { return tables.text(s.name) == name; });
  return found == tables.sets.end() ? spec::none : static_cast<spec::SetId>(found - tables.sets.begin());
}

}  // namespace

bool CustomValue::copy(std::span<std::byte> into) const {
  switch (place_.kind) {
    case Place::Kind::reg:
      return false;
    case Place::Kind::copied:
      if (into.size() <= place_.bytes.size()) {
        std::copy_n(place_.bytes.begin(), into.size(), into.begin());
        return true;
      }
      [[fallthrough]];
    case Place::Kind::remote:
      return session_.memory.read(place_.address, into) == into.size();
  }
  return false;
}

std::string_view CustomValue::call_numbered(Abi abi, std::uint64_t number) const {
  const auto& tables = session_.tables;
  const auto* call = tables.find(abi, number);
  return call != nullptr ? tables.text(call->name) : std::string_view{};
}

std::string_view CustomValue::call_name() const {
  const auto* call = session_.state.call;
  return call != nullptr ? session_.tables.text(call->name) : std::string_view{};
}

std::string_view CustomValue::previous_call() const {
  const auto* call = session_.state.previous_call;
  return call != nullptr ? session_.tables.text(call->name) : call_name();
}

std::uint64_t CustomValue::next_register() const {
  const auto& args = entry().args;
  return context_.slot + 1U < args.size() ? args[context_.slot + 1U] : 0;
}

void CustomValue::described(std::uint64_t bits) {
  const auto& tables = session_.tables;
  if (type_ != nullptr && type_->target != spec::none) {
    values_.numbers().emit_scalar(tables.types[type_->target], bits);
  } else {
    number(bits, spec::Style::hex, 8, false);
  }
}

void CustomValue::append_constant(TextBuffer& text, std::uint64_t bits, format::ConstantForm form) const {
  const auto& tables = session_.tables;
  const bool described = type_ != nullptr && type_->target != spec::none;
  const Type type = described ? tables.types[type_->target] : format::scalar_type(8, false, spec::Style::hex);
  if (type.set != spec::none) {
    format::append_constant(text, tables, type, bits, entry().abi, form);
  } else {
    // As every value here has 64 bits: -300 of 32 is what its sign makes of it.
    const unsigned unused = type.is_signed && type.width < 8 ? 8U * (8U - type.width) : 0U;
    const auto extended = static_cast<std::int64_t>(bits << unused) >> unused;
    format::append_scalar(text, unused == 0 ? bits : static_cast<std::uint64_t>(extended), type, form);
  }
}

void CustomValue::append_constant(TextBuffer& text, std::string_view set, std::uint64_t bits,
                                  format::ConstantForm form) const {
  Type type = format::scalar_type(4, false, spec::Style::hex);
  type.set = find_set(session_.tables, set);
  format::append_constant(text, session_.tables, type, bits, entry().abi, form);
}

void CustomValue::named(std::string_view name, std::uint64_t bits, spec::Style style, bool is_signed) {
  session_.out.named({name}, bits, format::scalar_type(8, is_signed, style));
}

std::optional<std::uint64_t> CustomValue::argument(std::string_view name) const {
  return values_.evaluator().argument_named(name);
}

void CustomValue::constant(std::string_view set, std::uint64_t bits, unsigned width) {
  Type type = format::scalar_type(width, false, spec::Style::hex);
  type.set = find_set(session_.tables, set);
  values_.numbers().emit_scalar(type, bits);
}

std::string_view CustomValue::constant_name(std::string_view set, std::uint64_t bits) const {
  const auto id = find_set(session_.tables, set);
  return id == spec::none ? std::string_view{} : format::constant_name(session_.tables, id, bits, entry().abi);
}

std::string_view CustomValue::described_name() const {
  const auto& tables = session_.tables;
  return type_ != nullptr && type_->target != spec::none ? tables.text(tables.types[type_->target].name)
                                                         : std::string_view{};
}

bool CustomValue::described() {
  return described(place_);
}

bool CustomValue::described_at(RemoteAddr address) {
  return described(Place::remote(address));
}

bool CustomValue::described(const Place& place) {
  return type_ != nullptr && type_->target != spec::none &&
         values_.value(session_.tables.types[type_->target], place, context_);
}

void CustomValue::number(std::uint64_t bits, spec::Style style, unsigned width, bool is_signed) {
  values_.numbers().emit_scalar(format::scalar_type(width, is_signed, style), bits);
}

}  // namespace tracer::decode
