// Functions of libraries: calls whose arguments come in the order of C and not in a system call's registers.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "spec/value_class.h"
#include "sysc/lowering.h"

namespace tracer::sysc {

using spec::none;

void Lowering::lower_libraries() {
  for (const auto* library : symbols_.libraries) {
    lower_library(*library);
  }
  const auto text = [this](spec::StringRef ref) { return std::string_view(set_.strings.c_str() + ref); };
  const auto before = [&](const spec::Function& a, const spec::Function& b) {
    return std::pair(text(a.library), text(a.name)) < std::pair(text(b.library), text(b.name));
  };
  std::sort(set_.functions.begin(), set_.functions.end(), before);
}

void Lowering::lower_library(const ast::Library& library) {
  for (const auto& function : library.functions) {
    if (function.for_some_abis || function.redirect != nullptr || function.classes != 0) {
      diagnostics_.error(function.name.at, "found " + function.name.text +
                                               " with what belongs to a system call (@ABI, redirect or a class), "
                                               "expected a function's parameters and result");
    }
    lower_function(library, function.name, function, function.sets_errno);
  }
  for (const auto& name : library.calls) {
    // Where the ABIs differ, a library shows what 64-bit ones have.
    const auto* variant = find_variant(name.text, Abi::x86_64);
    if (variant == nullptr || variant->ast->redirect != nullptr) {
      NearMiss near(name.text);
      for (const auto& [known, variants] : variants_) {
        near.consider(known);
      }
      diagnostics_.error(name.at, "found " + name.text + ", expected the name of a described call" + near.suggestion());
      continue;
    }
    lower_function(library, name, *variant->ast, !variant->ast->signature.never);
  }
}

void Lowering::lower_function(const ast::Library& library, const ast::Name& name, const ast::Call& ast,
                              bool sets_errno) {
  spec::Call call;
  call.name = builder_.string(name.text);
  call.signature = lower_signature(ast.signature, {}, nullptr, all_abis);
  number_in_order(call.signature);
  call.never_returns = ast.signature.never.has_value();
  call.varargs = ast.varargs;
  call.sets_errno = sets_errno;
  const auto params = set_.signatures[call.signature].params.count;
  if (params > spec::most_parameters) {
    diagnostics_.error(name.at, fmt::format("found {} parameters, expected {} at most", params, spec::most_parameters));
  }
  if (call.varargs != spec::Varargs::none && params == 0) {
    diagnostics_.error(name.at, "found varargs and no parameter before them, expected the format");
  }
  const auto id = next_index(set_.calls);
  set_.calls.push_back(call);
  for (const auto& soname : library.names) {
    const auto& position = library_functions_.try_emplace(soname.text + '\0' + name.text, name.at);
    if (!position.second) {
      diagnostics_.error(name.at,
                         fmt::format("found a second description of {}, expected one; the other is in", name.text),
                         position.first->second);
      continue;
    }
    set_.functions.push_back({builder_.string(soname.text), call.name, id});
  }
}

/// The slots of C: one a parameter, of a structure as many as it has words. A system call's parameters may stand in
/// another order (`at`), leave registers out and take pairs of them; the order of the registers is that of the C
/// library's parameters.
void Lowering::number_in_order(spec::Index index) {
  const auto signature = set_.signatures[index];
  std::vector<spec::Param*> params;
  for (spec::Index i = 0; i < signature.params.count; ++i) {
    params.push_back(&set_.params[signature.params.first + i]);
  }
  params.erase(std::remove_if(params.begin(), params.end(), [](const auto* p) { return p->type == none; }),
               params.end());
  const auto register_of = [](const spec::Param* p) { return p->slot[index_of(Abi::x86_64)]; };
  std::stable_sort(params.begin(), params.end(),
                   [&](const auto* a, const auto* b) { return register_of(a) < register_of(b); });
  std::array<std::size_t, abi_count> slots{};
  for (spec::Param* param : params) {
    param->wide = false;
    const spec::Type& type = set_.types[param->type];
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      param->slot[abi] = static_cast<std::uint8_t>(std::min(slots[abi], spec::most_parameters - 1));
      slots[abi] += type.kind == spec::TypeKind::structure
                        ? spec::PassedValue::words_of(set_.structs[type.index].layout.size[abi])
                        : 1;
    }
  }
  for (spec::Index i = 0; i < signature.rows.count; ++i) {
    number_in_order(set_.signature_rows[signature.rows.first + i].signature);
  }
  if (signature.otherwise != none) {
    number_in_order(signature.otherwise);
  }
}

void Lowering::reject_library_words(const ast::Call& call) {
  if (call.signature.nothing || call.sets_errno || call.varargs != spec::Varargs::none) {
    diagnostics_.error(call.name.at, "found void, errno or varargs at a system call, expected them in a library only");
  }
}

}  // namespace tracer::sysc
