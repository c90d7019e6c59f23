#include "spec/sub_calls.h"

#include <algorithm>

namespace tracer::spec {

namespace {

/// Returns the classes of the call of this name that has a number on any ABI; `otherwise` if there is none.
ClassMask classes_of(std::string_view name, const Tables& tables, ClassMask otherwise) {
  for (const auto& rows : tables.numbers) {
    for (const NumberedCall& row : rows) {
      if (row.call != none && tables.text(tables.calls[row.call].name) == name) {
        return tables.calls[row.call].classes;
      }
    }
  }
  return otherwise;
}

}  // namespace

SubCalls::SubCalls(const Tables& tables) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    for (const NumberedCall& row : tables.numbers[i]) {
      if (row.call == none) {
        continue;
      }
      const Call& call = tables.calls[row.call];
      // A literal selector is the old form of one call, not a multiplexer.
      if (call.redirect != none && tables.exprs[call.redirect].op != ExprOp::literal) {
        for (const Redirect& redirect : Tables::slice(tables.redirects, call.redirects)) {
          const Call& real = tables.calls[redirect.call];
          add(abi, row.number, tables.text(real.name), real.classes);
        }
      }
      if (call.signature == none) {
        continue;
      }
      for (const SignatureRow& form : Tables::slice(tables.signature_rows, tables.signatures[call.signature].rows)) {
        const std::string_view name = tables.text(tables.signatures[form.signature].shown);
        if (!name.empty() && (form.abis & mask_of(abi)) != 0) {
          add(abi, row.number, name, classes_of(name, tables, call.classes));
        }
      }
    }
  }
}

void SubCalls::add(Abi abi, std::uint64_t through, std::string_view name, ClassMask classes) {
  if (calls_.size() < most && find(abi, through, name) == nullptr) {
    calls_.push_back({abi, through, first + calls_.size(), name, classes});
    if (!go_through(abi, through)) {
      multiplexers_.push_back({abi, through});
      has_multiplexers_[index_of(abi)] = true;
    }
  }
}

bool SubCalls::is_multiplexer(Abi abi, std::uint64_t number) const {
  return std::any_of(multiplexers_.begin(), multiplexers_.end(),
                     [&](const Multiplexer& call) { return call.number == number && call.abi == abi; });
}

const SubCall* SubCalls::find(Abi abi, std::uint64_t through, std::string_view name) const {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const SubCall& call) {
    return call.abi == abi && call.through == through && call.name == name;
  });
  return found == calls_.end() ? nullptr : &*found;
}

}  // namespace tracer::spec
