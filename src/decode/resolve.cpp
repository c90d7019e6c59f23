// Which description holds for a call.
#include "decode/resolve.h"

#include <algorithm>
#include <array>

#include "format/constants.h"

namespace tracer::decode {

using spec::Signature;
using spec::Tables;

namespace {

constexpr unsigned max_redirects = 2;
constexpr unsigned max_signature_depth = 8;

}  // namespace

void CallResolver::resolve() const {
  state_.budget = Budget(session_.setting.options.string_limit);
  resolve_call();
}

void CallResolver::resolve_call() const {
  const spec::Call* previous = state_.call;
  state_.call = state_.entry.function != nullptr     ? state_.entry.function
                : state_.entry.function_name.empty() ? tables_.find(session_.abi, state_.entry.number)
                                                     : nullptr;
  if (state_.entry.interrupted) {
    state_.previous_call = tables_.find(session_.abi, *state_.entry.interrupted);
  } else if (previous != state_.call) {  // a restart_syscall that follows another one continues the same call
    state_.previous_call = previous;
  }
  state_.signature = nullptr;
  state_.next_param = 0;
  state_.directory = current_directory;
  state_.half_emitted = false;
  state_.struct_open = false;
  state_.argument_open = false;
  state_.variable_emitted = false;
  state_.unreadable = false;
  state_.saved.clear();
  state_.saved_bytes.clear();
  if (state_.call == nullptr) {
    return;
  }
  for (unsigned i = 0; i < max_redirects && state_.call->redirect != spec::none; ++i) {
    state_.signature = &tables_.signatures[state_.call->signature];
    const auto* before = state_.call;
    follow_redirect();
    if (state_.call == before) {
      break;
    }
  }
  resolve_signature();
}

void CallResolver::follow_redirect() const {
  const auto chosen = evaluator_.evaluate(state_.call->redirect, no_context);
  // Registers as they are: of the old form of a call, an address.
  const bool is_old_form = tables_.exprs[state_.call->redirect].op == spec::ExprOp::literal;
  if (!chosen || (state_.depth.raw && is_old_form)) {
    return;
  }
  const auto rows = Tables::slice(tables_.redirects, state_.call->redirects);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const spec::Redirect& r) {
    return r.value == static_cast<std::uint64_t>(*chosen);
  });
  if (row == rows.end()) {
    return;
  }
  auto& args = state_.entry.args;
  if (state_.call->redirect_args == spec::none) {
    std::rotate(args.begin(), args.begin() + 1, args.end());
    args.back() = 0;
    state_.call = &tables_.calls[row->call];
  } else {
    const unsigned width = word_size(session_.abi);
    const RemoteAddr from(evaluator_.raw_argument(tables_.params[state_.call->redirect_args]));
    std::array<std::byte, 6 * 8> raw{};
    const auto words = session_.memory.read(from, std::span(raw).first(args.size() * width)) / width;
    const auto own_args = args;
    for (std::size_t i = 0; i < args.size(); ++i) {
      std::uint64_t word = 0;
      std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  std::as_writable_bytes(std::span(&word, 1)).begin());
      args[i] = word;
    }
    const auto* own = state_.call;
    state_.call = &tables_.calls[row->call];
    resolve_signature();
    if (words < words_taken()) {  // the kernel takes all or fails
      args = own_args;
      state_.call = own;
    }
  }
}

/// How many arguments the call has, in registers' widths.
std::size_t CallResolver::words_taken() const {
  std::size_t taken = 0;
  for (const spec::Param& param : Tables::slice(tables_.params, state_.signature->params)) {
    taken =
        std::max<std::size_t>(taken, param.unpassed ? 0 : param.slot[index_of(session_.abi)] + (param.wide ? 2U : 1U));
  }
  return taken;
}

void CallResolver::resolve_signature() const {
  state_.signature = &tables_.signatures[state_.call->signature];
  for (unsigned i = 0; i < max_signature_depth && state_.signature->selector != spec::none; ++i) {
    const Signature& here = *state_.signature;
    spec::Index next = here.otherwise;
    if (const auto selected = evaluator_.evaluate(here.selector, no_context)) {
      const auto row = find_row(here, static_cast<std::uint64_t>(*selected));
      next = row != spec::none ? row : next;
    }
    if (next == spec::none) {
      break;
    }
    state_.signature = &tables_.signatures[next];
  }
}

/// Whether a request has a name with a driver that shares its number with others; with any driver if that is empty.
bool CallResolver::has_name(const Signature& signature, std::uint64_t request, std::string_view driver) const {
  const spec::Expr& selector = tables_.exprs[signature.selector];
  if (selector.op != spec::ExprOp::arg || tables_.params[selector.a].type == spec::none) {
    return false;
  }
  for (auto set = tables_.types[tables_.params[selector.a].type].set; set != spec::none;
       set = tables_.sets[set].special) {
    const auto of = tables_.text(tables_.sets[set].driver);
    if (!of.empty() && (driver.empty() || of == driver) &&
        !format::constant_name(tables_, set, request & 0xffff'ffff, session_.abi).empty()) {
      return true;
    }
  }
  return false;
}

/// Among rows of one value, the first one; or that of the driver behind the descriptor, if several share the value.
spec::Index CallResolver::choose(const Signature& signature, std::span<const spec::SignatureRow> rows,
                                 std::uint32_t open_bits) const {
  const auto fits = [&](const spec::SignatureRow& row) {
    return (row.abis & mask_of(session_.abi)) != 0 && row.open_bits == open_bits;
  };
  const auto first = std::find_if(rows.begin(), rows.end(), fits);
  if (first == rows.end()) {
    return spec::none;
  }
  spec::Index chosen = first->signature;
  const bool depends = std::any_of(first, rows.end(), [&](const auto& row) { return row.driver != spec::none; });
  if (depends && has_name(signature, first->value, {})) {
    session_.find_driver([&](std::string_view driver) {
      const auto found = std::find_if(first, rows.end(), [&](const spec::SignatureRow& row) {
        return fits(row) && tables_.text(row.driver) == driver;
      });
      const bool is_it = found != rows.end() || has_name(signature, first->value, driver);
      chosen = !is_it ? chosen : found != rows.end() ? found->signature : spec::none;  // none: only the name is known
      return is_it;
    });
  }
  return chosen;
}

/// The form of a call that a selector's value stands for.
spec::Index CallResolver::find_row(const Signature& signature, std::uint64_t value) const {
  // What the names of ioctls leave open: the end of a range of numbers, the size. Such requests have a direction.
  constexpr std::uint32_t size_bits = 0x3fff0000;
  constexpr std::uint32_t open_numbers[] = {0, 1, 3, 7, 0xf, 0x1f, 0x3f, 0x7f, 0xff};
  constexpr std::uint64_t least_open = 1U << 30;
  const auto rows = Tables::slice(tables_.signature_rows, signature.rows);
  const auto find = [&](std::uint32_t open_bits) {
    const auto wanted = value & ~std::uint64_t{open_bits};
    auto row = std::lower_bound(rows.begin(), rows.end(), wanted,
                                [](const spec::SignatureRow& r, std::uint64_t v) { return r.value < v; });
    const auto end = std::find_if(row, rows.end(), [&](const spec::SignatureRow& r) { return r.value != wanted; });
    return choose(signature,
                  rows.subspan(static_cast<std::size_t>(row - rows.begin()), static_cast<std::size_t>(end - row)),
                  open_bits);
  };
  auto found = find(0);
  for (const std::uint32_t size : {0U, size_bits}) {
    for (const std::uint32_t number : open_numbers) {
      if (found == spec::none && value >= least_open && (size | number) != 0) {
        found = find(size | number);
      }
    }
  }
  return found;
}

}  // namespace tracer::decode
