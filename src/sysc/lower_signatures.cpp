#include "sysc/lower_signatures.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace tracer::sysc {

using spec::none;

namespace {

const ast::Named* named_type(const ast::Type* type) {
  return type == nullptr ? nullptr : std::get_if<ast::Named>(&type->node);
}

/// Unites adjacent rows that differ only in their ABIs.
void unite_equal(std::vector<spec::SignatureRow>& rows) {
  std::vector<spec::SignatureRow> united;
  for (const auto& row : rows) {
    if (!united.empty() && united.back().value == row.value && united.back().signature == row.signature &&
        united.back().driver == row.driver) {
      united.back().abis = static_cast<AbiMask>(united.back().abis | row.abis);
    } else {
      united.push_back(row);
    }
  }
  rows = std::move(united);
}

/// Adds a row for each value that `row` has on an ABI.
void add_rows(const AbiValues& values, spec::SignatureRow row, AbiMask abis, std::vector<spec::SignatureRow>& rows) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto bit = mask_of(static_cast<Abi>(i));
    if (!values[i] || (abis & bit) == 0) {
      continue;
    }
    const auto value = static_cast<std::uint64_t>(*values[i]);
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const spec::SignatureRow& r) {
      return r.signature == row.signature && r.value == value;
    });
    if (same != rows.end()) {
      same->abis = static_cast<AbiMask>(same->abis | bit);
    } else {
      row.value = value;
      row.abis = bit;
      rows.push_back(row);
    }
  }
}

}  // namespace

spec::Index SignatureLowering::lower(const ast::Signature& signature, std::vector<const ast::Param*> params,
                                     const ast::Signature* enclosing, AbiMask abis) {
  for (const auto& param : signature.params) {
    params.push_back(&param);
  }
  const auto index = next_index(context_.set.signatures);
  context_.set.signatures.emplace_back();
  spec::Signature row;
  const Scope scope = lower_params(params, row);
  // A row without `->` has the result of the enclosing signature.
  const bool inherits = enclosing != nullptr && !signature.result && !signature.never && !signature.note;
  const auto& result = inherits ? *enclosing : signature;
  row.result = result.nothing ? none : result.result ? types_.lower(*result.result, scope) : types_.builtin("int");
  row.note = result.note ? types_.lower(*result.note, scope) : none;
  row.note_prefix = context_.builder.optional_string(result.note_prefix);
  row.note_styled = result.note_styled;
  const bool is_shown_by_row = signature.shown.empty() && enclosing != nullptr;
  row.shown = context_.builder.optional_string(is_shown_by_row ? enclosing->shown : signature.shown);
  if (signature.never && enclosing != nullptr) {
    context_.diagnostics.error(signature.never->at,
                               "found never in a row, expected it after the call's own parameters");
  }
  if (signature.selector != nullptr) {
    lower_rows(signature, params, scope, row, abis);
  }
  context_.set.signatures[index] = row;
  return index;
}

Scope SignatureLowering::lower_params(const std::vector<const ast::Param*>& params, spec::Signature& row) {
  row.params = {next_index(context_.set.params), next_index(params)};
  context_.set.params.resize(context_.set.params.size() + params.size());
  Scope scope{Scope::Kind::call, {}, nullptr};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& param = *params[i];
    if (!param.type) {
      continue;
    }
    const auto same = [&](const auto& entry) { return entry.name == param.name.text; };
    if (std::any_of(scope.entries.begin(), scope.entries.end(), same)) {
      context_.diagnostics.error(param.name.at,
                                 "found a second parameter " + param.name.text + ", expected another name");
    }
    scope.entries.push_back({param.name.text, row.params.first + static_cast<spec::Index>(i), &*param.type});
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& param = *params[i];
    spec::Param lowered;
    lowered.name = context_.builder.string(param.name.text);
    if (param.type) {
      lowered.type = types_.lower(*param.type, scope);
      lowered.wide = lookup_.registers_of(*param.type) != ast::Type::Registers::one;
      lowered.condition = exprs_.lower_optional(param.condition, scope);
      lowered.when = exprs_.lower_optional(param.when, scope);
      lowered.named = param.named;
      lowered.late = param.late;
      lowered.begins = !param.late;  // derive_timing() checks the other conditions
      lowered.unpassed = param.unpassed;
    }
    context_.set.params[row.params.first + i] = lowered;
  }
  assign_slots(params, row.params);
  return scope;
}

/// syscall(2), "Architecture calling conventions": a wide value takes two 32-bit registers, the first of which is
/// even on arm. Halves are two parameters of the kernel's function, which take two registers without alignment on every
/// ABI but x32, which passes the whole value in one (preadv2(2)).
void SignatureLowering::assign_slots(const std::vector<const ast::Param*>& params, spec::Range range) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    unsigned slot = 0;
    for (std::size_t p = 0; p < params.size(); ++p) {
      auto& param = context_.set.params[range.first + p];
      const bool halves = param.wide && lookup_.registers_of(*params[p]->type) == ast::Type::Registers::halves;
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

/// Delays output arguments to the exit, because nothing of them can be printed at entry.
void SignatureLowering::show_outputs_at_exit(spec::Range params) {
  for (spec::Index i = params.first; i < params.first + params.count; ++i) {
    auto& param = context_.set.params[i];
    param.late = param.late || (param.type != none && context_.set.types[param.type].kind == spec::TypeKind::pointer &&
                                context_.set.types[param.type].direction == spec::Direction::out);
  }
}

/// Returns the call for all ABIs that `like` names; nullptr if there is none. Built-in calls refer to built-in ones,
/// even if the user replaces those.
const ast::Call* SignatureLowering::call_like(const ast::Name& name) const {
  const ast::Call* found = nullptr;
  const auto consider = [&](const ast::Call& call) {
    const bool is_it = call.name.text == name.text && !call.for_some_abis && call.signature.selector != nullptr;
    const bool may_be = context_.program.is_users(name.at) || !context_.program.is_users(call.name.at);
    const bool is_better =
        found == nullptr || (context_.program.is_users(call.name.at) && !context_.program.is_users(found->name.at));
    found = is_it && may_be && is_better ? &call : found;
  };
  std::for_each(context_.symbols.calls.begin(), context_.symbols.calls.end(),
                [&](const auto* call) { consider(*call); });
  std::for_each(context_.program.replaced.begin(), context_.program.replaced.end(), consider);
  return found;
}

/// Returns the rows of a call with their keys, then the rows of the call that `like` names whose keys are new.
std::vector<SignatureLowering::KeyedRow> SignatureLowering::rows_of(const ast::Signature& signature) {
  std::vector<KeyedRow> rows;
  std::unordered_set<std::string> covered;
  const auto take = [&](const std::vector<ast::Row>& of) {
    std::unordered_set<std::string> taken_keys;
    for (const auto& row : of) {
      std::vector<const ast::Expr*> keys;
      for (const auto& key : row.keys) {
        auto text = key_text(key);
        if (covered.count(text) == 0) {
          keys.push_back(&key);
          taken_keys.insert(std::move(text));
        }
      }
      if (row.keys.empty()) {
        taken_keys.insert("else");
      }
      if (row.keys.empty() ? covered.count("else") == 0 : !keys.empty()) {
        rows.emplace_back(&row, std::move(keys));
      }
    }
    covered.merge(taken_keys);
  };
  take(signature.rows);
  if (signature.like) {
    if (const auto* call = call_like(*signature.like)) {
      take(call->signature.rows);
    } else {
      context_.diagnostics.error(signature.like->at,
                                 "found " + signature.like->text + ", expected a call that has rows by a value");
    }
  }
  return rows;
}

/// Returns the rows that have arguments. If several have the same number, the alphabetically first name takes
/// precedence; rows that are likely on the ABI come before the others, unlikely ones after them, and the user's rows
/// before all.
std::vector<const ast::IoctlRow*> SignatureLowering::described_ioctls() const {
  std::vector<const ast::IoctlRow*> rows;
  for (const auto* block : context_.symbols.ioctls) {
    for (const auto& row : block->rows) {
      if (row.signature) {
        rows.push_back(&row);
      }
    }
  }
  const auto order = [this](const ast::IoctlRow* row) {
    return std::pair(!context_.program.is_users(row->name.at), std::string_view(row->name.text));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
  return rows;
}

std::vector<spec::SignatureRow> SignatureLowering::ioctl_rows(const std::vector<const ast::Param*>& params,
                                                              const ast::Signature& signature, AbiMask abis) {
  std::vector<spec::SignatureRow> rows;
  std::vector<spec::SignatureRow> others;
  std::vector<spec::SignatureRow> unlikely;
  for (const auto* ioctl : described_ioctls()) {
    const auto index = lower(*ioctl->signature, params, &signature, abis);
    show_outputs_at_exit(context_.set.signatures[index].params);
    ioctl_signatures_.emplace(ioctl, index);
    const AbiMask likely = context_.program.is_users(ioctl->name.at) ? all_abis : ioctl->likely;
    const auto& numbers = ioctls_.numbers_of(*ioctl);
    const bool beyond = context_.symbols.is_beyond("ioctls", ioctl->name.text);
    const auto driver = context_.builder.optional_string(ioctl->driver);
    const spec::SignatureRow row{0, all_abis, beyond, index, open_bits_of(*ioctl), driver};
    add_rows(numbers, row, abis & likely, rows);
    add_rows(numbers, row, static_cast<AbiMask>(abis & ~likely & ~ioctl->unlikely), others);
    add_rows(numbers, row, static_cast<AbiMask>(abis & ~likely & ioctl->unlikely), unlikely);
  }
  rows.insert(rows.end(), others.begin(), others.end());
  rows.insert(rows.end(), unlikely.begin(), unlikely.end());
  return rows;
}

void SignatureLowering::lower_rows(const ast::Signature& signature, const std::vector<const ast::Param*>& params,
                                   const Scope& scope, spec::Signature& row, AbiMask abis) {
  row.selector = exprs_.lower(*signature.selector, scope);
  const ast::Set* set = exprs_.set_of(*signature.selector, scope);
  std::vector<spec::SignatureRow> rows;
  for (const auto& [alternative, keys] : rows_of(signature)) {
    const auto index = lower(alternative->signature, params, &signature, abis);
    if (keys.empty()) {
      if (row.otherwise != none) {
        context_.diagnostics.error(alternative->signature.at, "found a second 'else', expected one");
      }
      row.otherwise = index;
    }
    for (const auto* key : keys) {
      const bool beyond = context_.symbols.is_beyond(call_, key_text(*key));
      add_rows(exprs_.key_values(*key, set), {0, all_abis, beyond, index, 0, none}, abis, rows);
    }
  }
  const auto* reference = std::get_if<ast::Reference>(&signature.selector->node);
  for (const auto& entry : scope.entries) {
    const auto* named = named_type(entry.type == nullptr ? nullptr : lookup_.resolve(*entry.type));
    if (reference == nullptr || entry.name != reference->name || named == nullptr || named->name != "ioctl_cmd") {
      continue;
    }
    const auto ioctls = ioctl_rows(params, signature, abis);
    rows.insert(rows.end(), ioctls.begin(), ioctls.end());
  }
  // The decoder cuts the selector's value to the width of the argument and extends it by its sign.
  const auto& selector = context_.set.exprs[row.selector];
  if (selector.op == spec::ExprOp::arg && context_.set.params[selector.a].type != none) {
    const auto& type = context_.set.types[context_.set.params[selector.a].type];
    const unsigned unused = type.width == spec::word_wide || type.width >= 8 ? 0 : 64 - 8U * type.width;
    for (auto& r : rows) {
      const auto shifted = r.value << unused;
      r.value =
          type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> unused) : shifted >> unused;
    }
  }
  // If two rows have the same value, the first one applies.
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  unite_equal(rows);
  row.rows = append(context_.set.signature_rows, rows);
}

}  // namespace tracer::sysc
