#include "decode/customs.h"

#include <algorithm>

#include "format/scalars.h"

namespace tracer::decode {

using spec::Type;

bool Walker::custom(const Type& type, const Place& place, const Context& context) {
  const CustomFunction function = setting_.functions[type.custom];
  std::uint64_t size = size_of(type);
  const bool says_length = type.target != spec::none && tables_.types[type.target].length != spec::none;
  if (size == 0 && says_length) {
    size = length(tables_.types[type.target], context).value_or(0);
  }
  if (context.remaining != unlimited && size == 0 && !says_length) {
    size = context.remaining;
  }
  Place here = place;
  if (place.kind == Place::Kind::reg) {
    here.bits = load(type, place).value_or(place.bits);
  }
  if (function == nullptr) {
    static const Type plain = format::scalar_type(8, false, spec::Style::hex);
    return value(type.target != spec::none ? tables_.types[type.target] : plain, place, context);
  }
  WalkerContext custom(*this, &type, here, size, context);
  return function(custom);
}

bool WalkerContext::copy(std::span<std::byte> into) const {
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
      return walker_.memory().read(place_.address, into) == into.size();
  }
  return false;
}

std::string_view WalkerContext::call_numbered(Abi abi, std::uint64_t number) const {
  const auto& tables = walker_.setting().tables;
  const auto* call = tables.find(abi, number);
  return call != nullptr ? tables.text(call->name) : std::string_view{};
}

std::string_view WalkerContext::call_name() const {
  const auto* call = walker_.state().call;
  return call != nullptr ? walker_.setting().tables.text(call->name) : std::string_view{};
}

std::string_view WalkerContext::previous_call() const {
  const auto* call = walker_.state().previous_call;
  if (call == nullptr) {
    // What a thread was in when it was attached cannot be told; strace names the call of number 0.
    call = walker_.setting().tables.find(walker_.state().entry.abi, 0);
  }
  return call != nullptr ? walker_.setting().tables.text(call->name) : std::string_view{};
}

std::uint64_t WalkerContext::next_register() const {
  const auto& args = entry().args;
  return context_.slot + 1U < args.size() ? args[context_.slot + 1U] : 0;
}

void WalkerContext::described(std::uint64_t bits) {
  const auto& tables = walker_.setting().tables;
  if (type_ != nullptr && type_->target != spec::none) {
    walker_.emit_scalar(tables.types[type_->target], bits);
  } else {
    number(bits, spec::Style::hex, 8, false);
  }
}

void WalkerContext::spell(TextBuffer& text, std::uint64_t bits, format::ConstantForm form) const {
  const auto& tables = walker_.setting().tables;
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

void WalkerContext::spell(TextBuffer& text, std::string_view set, std::uint64_t bits) const {
  Type type = format::scalar_type(4, false, spec::Style::hex);
  type.set = walker_.find_set(set);
  format::append_constant(text, walker_.setting().tables, type, bits, entry().abi, format::ConstantForm::abbreviate);
}

void WalkerContext::named(std::string_view name, std::uint64_t bits, spec::Style style, bool is_signed) {
  walker_.out().named({name}, bits, format::scalar_type(8, is_signed, style));
}

std::optional<std::uint64_t> WalkerContext::argument(std::string_view name) const {
  return walker_.argument_named(name);
}

spec::SetId Walker::find_set(std::string_view name) const {
  const auto found = std::find_if(tables_.sets.begin(), tables_.sets.end(),
                                  [&](const spec::ConstantSet& s) { return tables_.text(s.name) == name; });
  return found == tables_.sets.end() ? spec::none : static_cast<spec::SetId>(found - tables_.sets.begin());
}

void WalkerContext::constant(std::string_view set, std::uint64_t bits, unsigned width) {
  Type type = format::scalar_type(width, false, spec::Style::hex);
  type.set = walker_.find_set(set);
  walker_.emit_scalar(type, bits);
}

std::string_view WalkerContext::constant_name(std::string_view set, std::uint64_t bits) const {
  const auto id = walker_.find_set(set);
  return id == spec::none ? std::string_view{} : format::constant_name(walker_.setting().tables, id, bits, entry().abi);
}

std::string_view WalkerContext::described_name() const {
  const auto& tables = walker_.setting().tables;
  return type_ != nullptr && type_->target != spec::none ? tables.text(tables.types[type_->target].name)
                                                         : std::string_view{};
}

bool WalkerContext::described() {
  return described(place_);
}

bool WalkerContext::described_at(RemoteAddr address) {
  return described(Place::remote(address));
}

bool WalkerContext::described(const Place& place) {
  return type_ != nullptr && type_->target != spec::none &&
         walker_.value(walker_.setting().tables.types[type_->target], place, context_);
}

void WalkerContext::number(std::uint64_t bits, spec::Style style, unsigned width, bool is_signed) {
  walker_.emit_scalar(format::scalar_type(width, is_signed, style), bits);
}

}  // namespace tracer::decode
