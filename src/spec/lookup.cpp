#include <algorithm>
#include <utility>

#include "spec/spec.h"

namespace tracer::spec {

const Call* Tables::find(Abi abi, std::uint64_t number) const {
  const auto rows = numbers[index_of(abi)];
  // Numbers are nearly dense from 0, so the row is usually at the index of its number, else a little before.
  const bool at_its_index = number < rows.size() && rows[number].number == number;
  const auto row = at_its_index ? rows.begin() + static_cast<std::ptrdiff_t>(number)
                                : std::lower_bound(rows.begin(), rows.end(), number,
                                                   [](const NumberedCall& r, std::uint64_t n) { return r.number < n; });
  if (row == rows.end() || row->number != number || row->call == none) {
    return nullptr;
  }
  return &calls[row->call];
}

const Call* Tables::find(std::string_view library, std::string_view function) const {
  const auto wanted = std::pair(library, function);
  const auto key = [this](const Function& row) { return std::pair(text(row.library), text(row.name)); };
  const auto row = std::lower_bound(functions.begin(), functions.end(), wanted,
                                    [&](const Function& r, const auto& w) { return key(r) < w; });
  return row == functions.end() || key(*row) != wanted ? nullptr : &calls[row->call];
}

bool Tables::shows_after(TypeId type) const {
  if (types[type].kind != TypeKind::structure) {
    return false;
  }
  const auto shown = slice(fields, structs[types[type].index].fields);
  return std::any_of(shown.begin(), shown.end(), [](const Field& field) { return field.late; });
}

std::size_t Tables::register_count(const Signature& signature, Abi abi) const {
  constexpr std::size_t most = 6;
  std::size_t count = 0;
  for (const Param& param : slice(params, signature.params)) {
    if (param.unpassed) {
      continue;
    }
    const bool pair = param.wide && register_size(abi) == 4;
    count = std::max<std::size_t>(count, param.slot[index_of(abi)] + (pair ? 2U : 1U));
  }
  for (const SignatureRow& row : slice(signature_rows, signature.rows)) {
    count = std::max(count, register_count(signatures[row.signature], abi));
  }
  if (signature.otherwise != none) {
    count = std::max(count, register_count(signatures[signature.otherwise], abi));
  }
  return std::min(count, most);
}

}  // namespace tracer::spec
