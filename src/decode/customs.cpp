#include "decode/customs.h"

#include <algorithm>

#include "render/scalars.h"

namespace tracer::decode {

using spec::Type;
using spec::TypeKind;

bool Walker::custom(const Type& type, const Place& place, const Scope* scope) {
  const CustomFunction function = setting_.custom_of_type[static_cast<std::size_t>(&type - tables_.types.data())];
  std::uint64_t size = size_of(type);
  if (type.target != spec::none && size == 0) {
    size = length(tables_.types[type.target], scope).value_or(0);
  }
  if (rest_ != unlimited && size == 0) {
    size = rest_;
  }
  Place here = place;
  if (place.kind == Place::Kind::reg) {
    here.bits = load(type, place).value_or(place.bits);
  }
  WalkerContext context(*this, here, size);
  return function != nullptr && function(context);
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

std::optional<std::uint64_t> WalkerContext::argument(std::string_view name) const {
  return walker_.argument_named(name);
}

void WalkerContext::constant(std::string_view set, std::uint64_t bits, unsigned width) {
  const auto& tables = walker_.setting().tables;
  const auto found = std::find_if(tables.sets.begin(), tables.sets.end(),
                                  [&](const spec::ConstantSet& s) { return tables.text(s.name) == set; });
  Type type = render::scalar_type(width, false, spec::Style::hex);
  if (found != tables.sets.end()) {
    type.set = static_cast<spec::SetId>(found - tables.sets.begin());
  }
  walker_.emit_scalar(type, bits);
}

void WalkerContext::number(std::uint64_t bits, spec::Style style, unsigned width, bool is_signed) {
  walker_.emit_scalar(render::scalar_type(width, is_signed, style), bits);
}

}  // namespace tracer::decode
