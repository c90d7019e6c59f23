#include "sysc/lower_libraries.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "spec/value_class.h"

namespace tracer::sysc {

using spec::none;

void LibraryLowering::lower() {
  for (const auto* library : context_.symbols.libraries) {
    lower_library(*library);
  }
  const auto text = [this](spec::StringRef ref) { return std::string_view(context_.set.strings.c_str() + ref); };
  const auto before = [&](const spec::Function& a, const spec::Function& b) {
    return std::pair(text(a.library), text(a.name)) < std::pair(text(b.library), text(b.name));
  };
  std::sort(context_.set.functions.begin(), context_.set.functions.end(), before);
}

void LibraryLowering::lower_library(const ast::Library& library) {
  for (const auto& function : library.functions) {
    if (function.for_some_abis || function.redirect != nullptr || function.classes != 0) {
      context_.diagnostics.error(function.name.at,
                                 "found " + function.name.text +
                                     " with what belongs to a system call (@ABI, redirect or a class), "
                                     "expected a function's parameters and result");
    }
    lower_function(library, function.name, function, function.sets_errno);
  }
  for (const auto& name : library.calls) {
    // If the ABIs differ, a library has the signature of 64-bit ones.
    const auto* variant = calls_.find_variant(name.text, Abi::x86_64);
    if (variant == nullptr || variant->ast->redirect != nullptr) {
      context_.diagnostics.error(name.at, calls_.unknown_call(name.text));
      continue;
    }
    lower_function(library, name, *variant->ast, !variant->ast->signature.never);
  }
}

void LibraryLowering::lower_function(const ast::Library& library, const ast::Name& name, const ast::Call& ast,
                                     bool sets_errno) {
  spec::Call call;
  call.name = context_.builder.string(name.text);
  call.signature = signatures_.lower_call(ast, all_abis);
  number_in_order(call.signature);
  call.never_returns = ast.signature.never.has_value();
  call.varargs = ast.varargs;
  call.sets_errno = sets_errno;
  call.leaf = library.leaf;
  const auto params = context_.set.signatures[call.signature].params.count;
  if (params > spec::most_parameters) {
    context_.diagnostics.error(name.at,
                               fmt::format("found {} parameters, expected {} at most", params, spec::most_parameters));
  }
  if (call.varargs != spec::Varargs::none && params == 0) {
    context_.diagnostics.error(name.at, "found varargs and no parameter before them, expected the format");
  }
  const auto id = next_index(context_.set.calls);
  context_.set.calls.push_back(call);
  for (const auto& soname : library.names) {
    const auto& position = functions_.try_emplace(soname.text + '\0' + name.text, name.at);
    if (!position.second) {
      context_.diagnostics.error(
          name.at, fmt::format("found a second description of {}, expected one; the other is in", name.text),
          position.first->second);
      continue;
    }
    context_.set.functions.push_back({context_.builder.string(soname.text), call.name, id});
  }
}

/// Assigns the slots of C: one to each parameter, and one to each word of a structure. A system call's parameters may
/// be in another order (`at`), skip registers and take pairs of them; the order of the registers is that of the C
/// library's parameters. What is shown of one register in several ways is one parameter.
void LibraryLowering::number_in_order(spec::Index index) {
  const auto signature = context_.set.signatures[index];
  std::vector<spec::Param*> params;
  for (spec::Index i = 0; i < signature.params.count; ++i) {
    params.push_back(&context_.set.params[signature.params.first + i]);
  }
  params.erase(std::remove_if(params.begin(), params.end(), [](const auto* p) { return p->type == none; }),
               params.end());
  const auto register_of = [](const spec::Param* p) { return p->slot[index_of(Abi::x86_64)]; };
  std::stable_sort(params.begin(), params.end(),
                   [&](const auto* a, const auto* b) { return register_of(a) < register_of(b); });
  std::array<std::size_t, abi_count> slots{};
  std::array<std::size_t, abi_count> next{};
  std::optional<std::uint8_t> last;
  for (spec::Param* param : params) {
    if (last != register_of(param)) {
      slots = next;
    }
    last = register_of(param);
    param->wide = false;
    const spec::Type& shown = context_.set.types[param->type];
    const bool is_custom = shown.kind == spec::TypeKind::custom && shown.target != none;
    const spec::Type& type = is_custom ? context_.set.types[shown.target] : shown;
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      param->slot[abi] = static_cast<std::uint8_t>(std::min(slots[abi], spec::most_parameters - 1));
      next[abi] = slots[abi] + (type.kind == spec::TypeKind::structure
                                    ? spec::PassedValue::words_of(context_.set.structs[type.index].layout.size[abi])
                                    : 1);
    }
  }
  for (spec::Index i = 0; i < signature.rows.count; ++i) {
    number_in_order(context_.set.signature_rows[signature.rows.first + i].signature);
  }
  if (signature.otherwise != none) {
    number_in_order(signature.otherwise);
  }
}

}  // namespace tracer::sysc
