#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "sysc/lowering.h"

namespace tracer::sysc {

using spec::none;

namespace {

constexpr unsigned register_count = 6;

const ast::Named* named_type(const ast::Type* type) {
  return type == nullptr ? nullptr : std::get_if<ast::Named>(&type->node);
}

/// What nothing stands between need not be parted by ABI.
void unite_equal(std::vector<spec::SignatureRow>& rows) {
  std::vector<spec::SignatureRow> united;
  for (const auto& row : rows) {
    if (!united.empty() && united.back().value == row.value && united.back().signature == row.signature) {
      united.back().abis = static_cast<AbiMask>(united.back().abis | row.abis);
    } else {
      united.push_back(row);
    }
  }
  rows = std::move(united);
}

}  // namespace

void Lowering::lower_calls() {
  for (const auto* call : symbols_.calls) {
    auto& variants = variants_[call->name.text];
    for (const auto& other : variants) {
      if (other.ast->for_some_abis == call->for_some_abis && (other.ast->abis & call->abis) != 0) {
        diagnostics_.error(
            call->name.at,
            fmt::format("found a second description of {}, expected one; the other is in", call->name.text),
            other.ast->name.at);
      }
    }
    reject_library_words(*call);
    variants.push_back({call, lower_signature(call->signature, {}, nullptr, call->abis)});
  }
}

spec::Index Lowering::lower_signature(const ast::Signature& signature, std::vector<const ast::Param*> params,
                                      const ast::Signature* enclosing, AbiMask abis) {
  for (const auto& param : signature.params) {
    params.push_back(&param);
  }
  const auto index = next_index(set_.signatures);
  set_.signatures.emplace_back();
  spec::Signature row;
  const Scope scope = lower_params(params, row);
  // A row without `->` has the result of the signature that it belongs to.
  const bool inherits = enclosing != nullptr && !signature.result && !signature.never && !signature.note;
  const auto& result = inherits ? *enclosing : signature;
  row.result = result.nothing ? none : result.result ? lower_type(*result.result, scope) : builtin("int");
  row.note = result.note ? lower_type(*result.note, scope) : none;
  row.note_prefix = builder_.optional_string(result.note_prefix);
  row.note_styled = result.note_styled;
  const bool is_shown_by_row = signature.shown.empty() && enclosing != nullptr;
  row.shown = builder_.optional_string(is_shown_by_row ? enclosing->shown : signature.shown);
  if (signature.never && enclosing != nullptr) {
    diagnostics_.error(signature.never->at, "found never in a row, expected it after the call's own parameters");
  }
  if (signature.selector != nullptr) {
    lower_rows(signature, params, scope, row, abis);
  }
  set_.signatures[index] = row;
  return index;
}

Scope Lowering::lower_params(const std::vector<const ast::Param*>& params, spec::Signature& row) {
  row.params = {next_index(set_.params), next_index(params)};
  set_.params.resize(set_.params.size() + params.size());
  Scope scope{Scope::Kind::call, {}, nullptr};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& param = *params[i];
    if (!param.type) {
      continue;
    }
    const auto same = [&](const auto& entry) { return entry.name == param.name.text; };
    if (std::any_of(scope.entries.begin(), scope.entries.end(), same)) {
      diagnostics_.error(param.name.at, "found a second parameter " + param.name.text + ", expected another name");
    }
    scope.entries.push_back({param.name.text, row.params.first + static_cast<spec::Index>(i), &*param.type});
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& param = *params[i];
    spec::Param lowered;
    lowered.name = builder_.string(param.name.text);
    if (param.type) {
      lowered.type = lower_type(*param.type, scope);
      lowered.wide = registers_of(*param.type) != ast::Type::Registers::one;
      lowered.condition = lower_optional(param.condition, scope);
      lowered.when = lower_optional(param.when, scope);
      lowered.named = param.named;
      lowered.was = param.was;
      lowered.late = param.late;
      lowered.begins = !param.late;  // as far as it says; Timing knows more
      lowered.unpassed = param.unpassed;
    }
    set_.params[row.params.first + i] = lowered;
  }
  assign_slots(params, row.params);
  return scope;
}

/// syscall(2), "Architecture calling conventions": a wide value takes two registers where they have 32 bits, and on
/// arm begins at an even one. Halves are two parameters of the kernel's function: two registers everywhere, no
/// alignment; only x32 passes the whole value in one (preadv2(2)).
void Lowering::assign_slots(const std::vector<const ast::Param*>& params, spec::Range range) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    unsigned slot = 0;
    for (std::size_t p = 0; p < params.size(); ++p) {
      auto& param = set_.params[range.first + p];
      const bool halves = param.wide && registers_of(*params[p]->type) == ast::Type::Registers::halves;
      const bool pair = param.wide && register_size(abi) == 4;
      slot = params[p]->slot.value_or(static_cast<std::uint8_t>(slot));
      if (pair && !halves && abi == Abi::arm) {
        slot += slot % 2;
      }
      param.slot[i] = static_cast<std::uint8_t>(std::min(slot, 255U));
      slot += pair || (halves && abi != Abi::x32) ? 2 : 1;
    }
  }
}

/// What a request only fills in has nothing to show at entry, not even a place: it may as well take none.
void Lowering::delay_what_is_filled_in(spec::Range params) {
  for (spec::Index i = params.first; i < params.first + params.count; ++i) {
    auto& param = set_.params[i];
    param.late = param.late || (param.type != none && set_.types[param.type].kind == spec::TypeKind::pointer &&
                                set_.types[param.type].direction == spec::Direction::out);
  }
}

/// The call for all ABIs that another one is like. The program's own calls are like its own, whatever the user
/// replaces.
const ast::Call* Lowering::call_like(const ast::Name& name) const {
  const ast::Call* found = nullptr;
  const auto consider = [&](const ast::Call& call) {
    const bool is_it = call.name.text == name.text && !call.for_some_abis && call.signature.selector != nullptr;
    const bool may_be = program_.is_users(name.at) || !program_.is_users(call.name.at);
    const bool is_better = found == nullptr || (program_.is_users(call.name.at) && !program_.is_users(found->name.at));
    found = is_it && may_be && is_better ? &call : found;
  };
  std::for_each(symbols_.calls.begin(), symbols_.calls.end(), [&](const auto* call) { consider(*call); });
  std::for_each(program_.replaced.begin(), program_.replaced.end(), consider);
  return found;
}

/// The rows of a call with their keys, and after them what it does not say itself of the call that it is like.
std::vector<std::pair<const ast::Row*, std::vector<const ast::Expr*>>> Lowering::rows_of(
    const ast::Signature& signature) {
  std::vector<std::pair<const ast::Row*, std::vector<const ast::Expr*>>> rows;
  std::unordered_set<std::string> said;
  const auto take = [&](const std::vector<ast::Row>& of) {
    std::unordered_set<std::string> saying;
    for (const auto& row : of) {
      std::vector<const ast::Expr*> keys;
      for (const auto& key : row.keys) {
        const auto* named = std::get_if<ast::Reference>(&key.node);
        auto text = named != nullptr ? named->name : std::to_string(std::get<ast::Literal>(key.node).value);
        if (said.count(text) == 0) {
          keys.push_back(&key);
          saying.insert(std::move(text));
        }
      }
      if (row.keys.empty()) {
        saying.insert("else");
      }
      if (row.keys.empty() ? said.count("else") == 0 : !keys.empty()) {
        rows.emplace_back(&row, std::move(keys));
      }
    }
    said.merge(saying);
  };
  take(signature.rows);
  if (signature.like) {
    if (const auto* call = call_like(*signature.like)) {
      take(call->signature.rows);
    } else {
      diagnostics_.error(signature.like->at,
                         "found " + signature.like->text + ", expected a call that has rows by a value");
    }
  }
  return rows;
}

/// The rows that have arguments. Where several of them have one number, the first of the names in the alphabet decides,
/// whatever the files are called; what is likely on the ABI goes before, and what the user describes before all.
std::vector<const ast::IoctlRow*> Lowering::described_ioctls() const {
  std::vector<const ast::IoctlRow*> rows;
  for (const auto* block : symbols_.ioctls) {
    for (const auto& row : block->rows) {
      if (row.signature) {
        rows.push_back(&row);
      }
    }
  }
  const auto order = [this](const ast::IoctlRow* row) {
    return std::pair(!program_.is_users(row->name.at), std::string_view(row->name.text));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
  return rows;
}

std::vector<spec::SignatureRow> Lowering::ioctl_rows(const std::vector<const ast::Param*>& params,
                                                     const ast::Signature& signature, AbiMask abis) {
  std::vector<spec::SignatureRow> rows;
  std::vector<spec::SignatureRow> unlikely;
  for (const auto* ioctl : described_ioctls()) {
    const auto index = lower_signature(*ioctl->signature, params, &signature, abis);
    delay_what_is_filled_in(set_.signatures[index].params);
    ioctl_signatures_.emplace(ioctl, index);
    const AbiMask likely = program_.is_users(ioctl->name.at) ? all_abis : ioctl->likely;
    const auto& numbers = ioctl_numbers_.at(ioctl);
    add_rows(numbers, open_bits_of(*ioctl), index, abis & likely, rows);
    add_rows(numbers, open_bits_of(*ioctl), index, static_cast<AbiMask>(abis & ~likely), unlikely);
  }
  rows.insert(rows.end(), unlikely.begin(), unlikely.end());
  return rows;
}

void Lowering::lower_rows(const ast::Signature& signature, const std::vector<const ast::Param*>& params,
                          const Scope& scope, spec::Signature& row, AbiMask abis) {
  row.selector = lower_expr(*signature.selector, scope);
  const ast::Set* set = set_of(*signature.selector, scope);
  std::vector<spec::SignatureRow> rows;
  for (const auto& [alternative, keys] : rows_of(signature)) {
    const auto index = lower_signature(alternative->signature, params, &signature, abis);
    if (keys.empty()) {
      if (row.otherwise != none) {
        diagnostics_.error(alternative->signature.at, "found a second 'else', expected one");
      }
      row.otherwise = index;
    }
    for (const auto* key : keys) {
      add_rows(key_values(*key, set), 0, index, abis, rows);
    }
  }
  const auto* reference = std::get_if<ast::Reference>(&signature.selector->node);
  for (const auto& entry : scope.entries) {
    const auto* named = named_type(entry.type == nullptr ? nullptr : resolve(*entry.type));
    if (reference == nullptr || entry.name != reference->name || named == nullptr || named->name != "ioctl_cmd") {
      continue;
    }
    const auto ioctls = ioctl_rows(params, signature, abis);
    rows.insert(rows.end(), ioctls.begin(), ioctls.end());
  }
  // The selector's value as the decoder will have it: cut to the width of the argument, extended by its sign.
  const auto& selector = set_.exprs[row.selector];
  if (selector.op == spec::ExprOp::arg && set_.params[selector.a].type != none) {
    const auto& type = set_.types[set_.params[selector.a].type];
    const unsigned unused = type.width == spec::word_wide || type.width >= 8 ? 0 : 64 - 8U * type.width;
    for (auto& r : rows) {
      const auto shifted = r.value << unused;
      r.value =
          type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> unused) : shifted >> unused;
    }
  }
  // Of two rows with the same value the one that was described first holds.
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  unite_equal(rows);
  row.rows = append(set_.signature_rows, rows);
}

void Lowering::add_rows(const AbiValues& values, std::uint32_t open_bits, spec::Index signature, AbiMask abis,
                        std::vector<spec::SignatureRow>& rows) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto bit = mask_of(static_cast<Abi>(i));
    if (!values[i] || (abis & bit) == 0) {
      continue;
    }
    const auto value = static_cast<std::uint64_t>(*values[i]);
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const spec::SignatureRow& r) {
      return r.signature == signature && r.value == value;
    });
    if (same != rows.end()) {
      same->abis = static_cast<AbiMask>(same->abis | bit);
    } else {
      rows.push_back({value, bit, signature, open_bits});
    }
  }
}

const CallVariant* Lowering::find_variant(std::string_view name, Abi abi) const {
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

/// The entry that prints as `printed` and decodes by `variant`.
spec::CallId Lowering::call_row(const std::string& printed, const CallVariant& variant) {
  auto& rows = call_rows_[printed];
  const auto known =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == variant.signature; });
  if (known != rows.end()) {
    return known->second;
  }
  spec::Call call;
  call.name = builder_.string(printed);
  call.signature = variant.signature;
  if (variant.ast != nullptr) {
    call.classes = variant.ast->classes;
    call.never_returns = variant.ast->signature.never.has_value();
  }
  const auto id = next_index(set_.calls);
  set_.calls.push_back(call);
  rows.emplace_back(variant.signature, id);
  if (variant.ast != nullptr && variant.ast->redirect != nullptr) {
    lower_redirect(id, *variant.ast);
  }
  return id;
}

void Lowering::lower_redirect(spec::CallId id, const ast::Call& ast) {
  const auto params = set_.signatures[set_.calls[id].signature].params;
  Scope scope{Scope::Kind::call, {}, nullptr};
  for (spec::Index i = 0; i < params.count; ++i) {
    const auto& param = ast.signature.params[i];
    scope.entries.push_back({param.name.text, params.first + i, param.type ? &*param.type : nullptr});
  }
  const auto selector = lower_expr(*ast.redirect, scope);
  const auto* set = set_of(*ast.redirect, scope);
  auto args = none;
  if (ast.redirect_args) {
    for (const auto& entry : scope.entries) {
      args = entry.name == ast.redirect_args->text ? entry.id : args;
    }
    if (args == none) {
      unknown_name(ast.redirect_args->at, ast.redirect_args->text, scope);
    }
  }
  std::vector<spec::Redirect> rows;
  for (const auto& row : ast.redirects) {
    // Multiplexed calls are an affair of i386 (and s390 and the like, which are not here).
    const auto* target = find_variant(row.call.text, Abi::i386);
    if (target == nullptr) {
      NearMiss near(row.call.text);
      for (const auto& [name, variants] : variants_) {
        near.consider(name);
      }
      diagnostics_.error(row.call.at,
                         "found " + row.call.text + ", expected the name of a described call" + near.suggestion());
      continue;
    }
    if (target->ast->redirect != nullptr) {
      diagnostics_.error(row.call.at,
                         "found " + row.call.text + ", which redirects itself, expected a call that does not");
      continue;
    }
    for (const auto& key : row.keys) {
      const auto value = key_values(key, set)[index_of(Abi::i386)];
      rows.push_back({static_cast<std::uint64_t>(value.value_or(0)), call_row(row.call.text, *target)});
    }
  }
  auto& call = set_.calls[id];
  call.redirect = selector;
  call.redirect_args = args;
  call.redirects = append(set_.redirects, rows);
}

// ---------------------------------------------------------------------------------------------- numbers

/// Six words: for a number that nothing describes.
spec::Index Lowering::fallback_signature() {
  if (fallback_signature_ == none) {
    spec::Signature row;
    row.params = {next_index(set_.params), register_count};
    row.result = builtin("long");
    for (std::uint8_t i = 0; i < register_count; ++i) {
      spec::Param param;
      param.name = builder_.string(fmt::format("arg{}", i + 1));
      param.type = fallback_type();
      param.slot.fill(i);
      set_.params.push_back(param);
    }
    fallback_signature_ = next_index(set_.signatures);
    set_.signatures.push_back(row);
  }
  return fallback_signature_;
}

void Lowering::lower_numbers(bool lenient) {
  for (const auto& number : program_.numbers) {
    auto& rows = set_.numbers[index_of(number.abi)];
    if (const auto* variant = find_variant(number.description.text, number.abi)) {
      check_registers(number, variant->signature);
      rows.push_back({number.number, call_row(number.name.text, *variant)});
      continue;
    }
    NearMiss near(number.description.text);
    for (const auto& [name, variants] : variants_) {
      near.consider(name);
    }
    const auto message =
        "found " + number.description.text + ", expected the name of a described call" + near.suggestion();
    if (lenient) {
      diagnostics_.warning(number.description.at, message);
      rows.push_back({number.number, call_row(number.name.text, {nullptr, fallback_signature()})});
    } else {
      diagnostics_.error(number.description.at, message);
    }
  }
  const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
  for (auto& rows : set_.numbers) {
    std::sort(rows.begin(), rows.end(), by_number);
  }
  std::array<std::unordered_map<std::uint32_t, Position>, abi_count> seen;
  for (const auto& number : program_.numbers) {
    const auto [entry, is_new] = seen[index_of(number.abi)].try_emplace(number.number, number.name.at);
    if (!is_new) {
      diagnostics_.error(number.name.at, fmt::format("found number {} a second time, expected it in line {} only",
                                                     number.number, entry->second.line));
    }
  }
}

/// The arguments of a numbered call, and of its rows, must fit into registers on that ABI.
void Lowering::check_registers(const ast::Number& number, spec::Index index) {
  const auto signature = set_.signatures[index];
  for (spec::Index i = signature.params.first; i < signature.params.first + signature.params.count; ++i) {
    const auto& param = set_.params[i];
    const bool pair = param.wide && register_size(number.abi) == 4;
    if (param.slot[index_of(number.abi)] + (pair ? 2U : 1U) > register_count) {
      diagnostics_.error(number.name.at, "found parameter " + std::string(set_.strings.c_str() + param.name) + " of " +
                                             number.description.text + " beyond the sixth register of " +
                                             std::string(abi_names[index_of(number.abi)]) +
                                             ", expected @ABI descriptions");
      return;
    }
  }
  for (spec::Index i = signature.rows.first; i < signature.rows.first + signature.rows.count; ++i) {
    if ((set_.signature_rows[i].abis & mask_of(number.abi)) != 0) {
      check_registers(number, set_.signature_rows[i].signature);
    }
  }
}

spec::TableSet Lowering::run(const CompileOptions& options) {
  // A set is only named by types before its constants are needed, so sets come first; ioctl numbers need layouts.
  lower_sets();
  ioctl_set_ = next_index(set_.sets);
  set_.sets.emplace_back();
  declare_structs();
  lower_ioctl_set();
  for (spec::Index i = 0; i < next_index(structs_); ++i) {
    lower_struct(i, symbols_.structs[i]->name.at);
  }
  for (spec::Index i = 0; i < next_index(tables_); ++i) {
    lower_table(i);
  }
  lower_calls();
  lower_numbers(options.lenient);
  for (auto& param : set_.params) {
    for (auto& slot : param.slot) {
      slot = std::min<std::uint8_t>(slot, register_count - 1);  // of a call that this ABI does not have
    }
  }
  lower_libraries();
  derive_timing(set_);
  if (options.numbers) {
    warn_of_numbers();
  }
  return std::move(set_);
}

}  // namespace tracer::sysc
