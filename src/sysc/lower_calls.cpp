#include "sysc/lower_calls.h"

#include <fmt/core.h>

#include <algorithm>

namespace tracer::sysc {

using spec::none;

namespace {

void reject_library_words(const ast::Call& call, Diagnostics& diagnostics) {
  if (call.signature.nothing || call.sets_errno || call.varargs != spec::Varargs::none) {
    diagnostics.error(call.name.at, "found void, errno or varargs at a system call, expected them in a library only");
  }
}

}  // namespace

void CallLowering::lower() {
  for (const auto* call : context_.symbols.calls) {
    auto& variants = variants_[call->name.text];
    for (const auto& other : variants) {
      if (other.ast->for_some_abis == call->for_some_abis && (other.ast->abis & call->abis) != 0) {
        context_.diagnostics.error(
            call->name.at,
            fmt::format("found a second description of {}, expected one; the other is in", call->name.text),
            other.ast->name.at);
      }
    }
    reject_library_words(*call, context_.diagnostics);
    variants.push_back({call, signatures_.lower_call(*call, call->abis)});
  }
}

const CallVariant* CallLowering::find_variant(std::string_view name, Abi abi) const {
  const auto found = variants_.find(std::string(name));
  if (found == variants_.end()) {
    return nullptr;
  }
  const CallVariant* plain = nullptr;
  for (const auto& variant : found->second) {
    if (!variant.ast->for_some_abis) {
      plain = &variant;
    } else if ((variant.ast->abis & mask_of(abi)) != 0) {
      return &variant;
    }
  }
  return plain;
}

std::string CallLowering::unknown_call(const std::string& name) const {
  NearMiss near(name);
  for (const auto& [known, variants] : variants_) {
    near.consider(known);
  }
  return "found " + name + ", expected the name of a described call" + near.suggestion();
}

/// Returns the entry that is printed as `printed` and decoded by `variant`; adds it if it is new.
spec::CallId CallLowering::call_row(const std::string& printed, const CallVariant& variant) {
  auto& rows = call_rows_[printed];
  const auto known =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == variant.signature; });
  if (known != rows.end()) {
    return known->second;
  }
  spec::Call call;
  call.name = context_.builder.string(printed);
  call.signature = variant.signature;
  if (variant.ast != nullptr) {
    call.classes = variant.ast->classes;
    call.never_returns = variant.ast->signature.never.has_value();
  }
  const auto id = next_index(context_.set.calls);
  context_.set.calls.push_back(call);
  rows.emplace_back(variant.signature, id);
  if (variant.ast != nullptr && variant.ast->redirect != nullptr) {
    lower_redirect(id, *variant.ast);
  }
  return id;
}

void CallLowering::lower_redirect(spec::CallId id, const ast::Call& ast) {
  const auto params = context_.set.signatures[context_.set.calls[id].signature].params;
  Scope scope{Scope::Kind::call, {}, nullptr};
  for (spec::Index i = 0; i < params.count; ++i) {
    const auto& param = ast.signature.params[i];
    scope.entries.push_back({param.name.text, params.first + i, param.type ? &*param.type : nullptr});
  }
  const auto selector = exprs_.lower(*ast.redirect, scope);
  const auto* set = exprs_.set_of(*ast.redirect, scope);
  auto args = none;
  if (ast.redirect_args) {
    for (const auto& entry : scope.entries) {
      args = entry.name == ast.redirect_args->text ? entry.id : args;
    }
    if (args == none) {
      exprs_.report_unknown(ast.redirect_args->at, ast.redirect_args->text, scope);
    }
  }
  std::vector<spec::Redirect> rows;
  for (const auto& row : ast.redirects) {
    // Of the supported ABIs, only i386 has multiplexed calls.
    const auto* target = find_variant(row.call.text, Abi::i386);
    if (target == nullptr) {
      context_.diagnostics.error(row.call.at, unknown_call(row.call.text));
      continue;
    }
    if (target->ast->redirect != nullptr) {
      context_.diagnostics.error(row.call.at,
                                 "found " + row.call.text + ", which redirects itself, expected a call that does not");
      continue;
    }
    for (const auto& key : row.keys) {
      const auto value = exprs_.key_values(key, set)[index_of(Abi::i386)];
      rows.push_back({static_cast<std::uint64_t>(value.value_or(0)), call_row(row.call.text, *target)});
    }
  }
  auto& call = context_.set.calls[id];
  call.redirect = selector;
  call.redirect_args = args;
  call.redirects = append(context_.set.redirects, rows);
}

// ---------------------------------------------------------------------------------------------- numbers

/// Returns a signature of six words, for a number without a description.
spec::Index CallLowering::fallback_signature() {
  if (fallback_signature_ == none) {
    spec::Signature row;
    row.params = {next_index(context_.set.params), register_count};
    row.result = types_.builtin("long");
    for (std::uint8_t i = 0; i < register_count; ++i) {
      spec::Param param;
      param.name = context_.builder.string(fmt::format("arg{}", i + 1));
      param.type = types_.fallback();
      param.slot.fill(i);
      context_.set.params.push_back(param);
    }
    fallback_signature_ = next_index(context_.set.signatures);
    context_.set.signatures.push_back(row);
  }
  return fallback_signature_;
}

void CallLowering::lower_numbers(bool lenient) {
  for (const auto& number : context_.program.numbers) {
    auto& rows = context_.set.numbers[index_of(number.abi)];
    const bool beyond = context_.symbols.is_beyond("calls", number.name.text);
    if (const auto* variant = find_variant(number.description.text, number.abi)) {
      check_registers(number, variant->signature);
      rows.push_back({number.number, call_row(number.name.text, *variant), beyond});
      continue;
    }
    const auto message = unknown_call(number.description.text);
    if (lenient) {
      context_.diagnostics.warning(number.description.at, message);
      rows.push_back({number.number, call_row(number.name.text, {nullptr, fallback_signature()}), beyond});
    } else {
      context_.diagnostics.error(number.description.at, message);
    }
  }
  const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
  for (auto& rows : context_.set.numbers) {
    std::sort(rows.begin(), rows.end(), by_number);
  }
  std::array<std::unordered_map<std::uint32_t, Position>, abi_count> seen;
  for (const auto& number : context_.program.numbers) {
    const auto [entry, is_new] = seen[index_of(number.abi)].try_emplace(number.number, number.name.at);
    if (!is_new) {
      context_.diagnostics.error(
          number.name.at,
          fmt::format("found number {} a second time, expected it in line {} only", number.number, entry->second.line));
    }
  }
}

/// Reports arguments of a numbered call, or of its rows, that exceed the ABI's registers.
void CallLowering::check_registers(const ast::Number& number, spec::Index index) {
  const auto signature = context_.set.signatures[index];
  for (spec::Index i = signature.params.first; i < signature.params.first + signature.params.count; ++i) {
    const auto& param = context_.set.params[i];
    const bool pair = param.wide && register_size(number.abi) == 4;
    if (param.slot[index_of(number.abi)] + (pair ? 2U : 1U) > register_count) {
      context_.diagnostics.error(number.name.at,
                                 "found parameter " + std::string(context_.set.strings.c_str() + param.name) + " of " +
                                     number.description.text + " beyond the sixth register of " +
                                     std::string(abi_names[index_of(number.abi)]) + ", expected @ABI descriptions");
      return;
    }
  }
  for (spec::Index i = signature.rows.first; i < signature.rows.first + signature.rows.count; ++i) {
    if ((context_.set.signature_rows[i].abis & mask_of(number.abi)) != 0) {
      check_registers(number, context_.set.signature_rows[i].signature);
    }
  }
}

}  // namespace tracer::sysc
