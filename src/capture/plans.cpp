#include "capture/plans.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "capture/planner.h"

namespace tracer::capture {
namespace {

using namespace spec;

constexpr std::size_t slot_of(Abi abi, std::uint32_t number) {
  return index_of(abi) * numbers_per_abi + number;
}

/// Names of parameters that are descriptors of which somebody asks whether they are netlink sockets.
std::set<std::string_view> sockets_asked_for(const Tables& tables) {
  std::set<std::string_view> names;
  for (const Expr& expr : tables.exprs) {
    if (expr.op != ExprOp::lookup || expr.b != static_cast<Index>(Lookup::netlink_protocol)) {
      continue;
    }
    const Expr& descriptor = tables.exprs[expr.a];
    if (descriptor.op == ExprOp::arg) {
      names.insert(tables.text(tables.params[descriptor.a].name));
    } else if (descriptor.op == ExprOp::outer) {
      names.insert(tables.text(descriptor.a));
    }
  }
  return names;
}

/// How many arguments a decoder may look at.
std::uint8_t arguments_of(const Tables& tables, const Call& call, Abi abi) {
  if (call.signature == none || call.redirect != none || word_size(abi) != sizeof(std::uint64_t)) {
    return most_arguments;
  }
  const Signature& signature = tables.signatures[call.signature];
  if (signature.rows.count != 0 || signature.otherwise != none) {
    return most_arguments;
  }
  unsigned count = 0;
  for (const Param& param : Tables::slice(tables.params, signature.params)) {
    count = std::max(count, param.slot[index_of(abi)] + 1U);
  }
  return static_cast<std::uint8_t>(std::min<unsigned>(count, most_arguments));
}

/// The argument whose values choose between the forms of a call, and which of its bits.
struct Chooser {
  std::uint8_t argument = slot_none;
  std::uint32_t bits = 0;
};

std::optional<Chooser> chooser_of(const Tables& tables, const Call& call, Abi abi) {
  if (call.signature == none || call.redirect != none || tables.signatures[call.signature].selector == none) {
    return std::nullopt;
  }
  const Expr* selector = &tables.exprs[tables.signatures[call.signature].selector];
  Chooser chooser{slot_none, ~std::uint32_t{0}};
  if (selector->op == ExprOp::bit_and && tables.exprs[selector->b].op == ExprOp::literal) {
    chooser.bits = static_cast<std::uint32_t>(tables.exprs[selector->b].value);
    selector = &tables.exprs[selector->a];
  }
  if (selector->op != ExprOp::arg || tables.params[selector->a].type == none) {
    return std::nullopt;
  }
  const Param& param = tables.params[selector->a];
  const unsigned width = bytes_of(tables.types[param.type].width, abi);
  chooser.bits &= width < sizeof chooser.bits ? (1U << (8 * width)) - 1 : ~std::uint32_t{0};
  chooser.argument = param.slot[index_of(abi)];
  return chooser.argument < most_arguments ? std::optional(chooser) : std::nullopt;
}

/// What operations may name: a bit for each named_kind.
std::uint8_t kinds_named(const std::vector<capture_operation>& operations) {
  unsigned kinds = 0;
  for (const capture_operation& op : operations) {
    if (op.kind == capture_named || op.kind == capture_there_named) {
      kinds |= 1U << op.to;
    } else if (op.kind == capture_fd_set) {
      kinds |= 1U << named_descriptor;
    } else if (op.kind == capture_passed) {
      kinds |= 1U << named_descriptor | 1U << named_process;
    }
  }
  return static_cast<std::uint8_t>(kinds);
}

class PlanMaker {
 public:
  explicit PlanMaker(const PlannerSetting& setting) : setting_(setting), t_(setting.tables) {
    capture_plan unknown{};
    unknown.arguments = most_arguments;
    unknown.chooser = slot_none;
    plans_.by_slot.resize(std::size_t{watched_abis} * numbers_per_abi, unknown);
    for (const ConstantSet& set : t_.sets) {
      for (const ConstantGroup& group : Tables::slice(t_.groups, set.driver != none ? set.groups : Range{})) {
        for (const Constant& constant : Tables::slice(t_.constants, group.constants)) {
          shared_.insert(static_cast<std::uint32_t>(constant.value));
        }
      }
    }
  }

  void add(Abi abi, const NumberedCall& numbered) {
    const Call& call = t_.calls[numbered.call];
    const auto slot = static_cast<std::uint32_t>(slot_of(abi, numbered.number));
    const auto chooser = chooser_of(t_, call, abi);
    const auto of_call = [&](CapturePhase phase) { return plan_call(setting_, abi, phase, call, chooser.has_value()); };
    capture_plan plan = made(of_call);
    plan.arguments = arguments_of(t_, call, abi);
    plan.chooser = slot_none;
    if (chooser) {
      plan.chooser = chooser->argument;
      plan.chooser_bits = chooser->bits;
      add_forms(abi, slot, plan, t_.signatures[call.signature]);
      if (has_drivers(t_.signatures[call.signature])) {
        add_shared(slot, plan, of_call);
      }
    }
    plans_.by_slot[slot] = plan;
  }

  CapturePlans result() {
    std::size_t size = 1;
    while (size < 2 * forms_.size()) {
      size *= 2;
    }
    while (!fill_table(size)) {
      size *= 2;
    }
    return std::move(plans_);
  }

 private:
  void add_forms(Abi abi, std::uint32_t slot, const capture_plan& plan, const Signature& signature) {
    const bool drivers = has_drivers(signature);
    const auto rows = Tables::slice(t_.signature_rows, signature.rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SignatureRow& row = rows[i];
      if ((row.abis & mask_of(abi)) == 0 || row.open_bits != 0) {
        continue;
      }
      form_plan form{};
      form.slot = slot + 1;
      form.value = static_cast<std::uint32_t>(row.value) & plan.chooser_bits;
      const bool shared = drivers && shared_.count(form.value) != 0;
      form.plan = made([&](CapturePhase phase) {
        auto planned = plan_form(setting_, abi, phase, row.signature);
        return shared ? for_all_drivers(std::move(planned), abi, phase, rows.subspan(i)) : planned;
      });
      form.plan.arguments = plan.arguments;
      const auto copies = [](const capture_plan& p) { return p.entry_count != 0 || p.exit_count != 0; };
      if (copies(form.plan) || copies(plan)) {
        forms_.push_back(form);
      }
    }
  }

  /// Whether its values are numbers that several drivers share.
  [[nodiscard]] bool has_drivers(const Signature& signature) const {
    const Expr& selector = t_.exprs[signature.selector];
    const Type* type = selector.op == ExprOp::arg && t_.params[selector.a].type != none
                           ? &t_.types[t_.params[selector.a].type]
                           : nullptr;
    return type != nullptr && type->set != none && t_.sets[type->set].special != none;
  }

  /// Adds whose ioctls the descriptor, the first argument, has, and what the other rows of the same value copy.
  [[nodiscard]] PlannedCapture for_all_drivers(PlannedCapture planned, Abi abi, CapturePhase phase,
                                               std::span<const SignatureRow> rows) const {
    for (const SignatureRow& row : rows.subspan(1)) {
      if (row.value != rows.front().value) {
        break;
      }
      if (row.driver == none || row.signature == rows.front().signature || (row.abis & mask_of(abi)) == 0 ||
          row.open_bits != 0) {
        continue;
      }
      const auto more = plan_form(setting_, abi, phase, row.signature);
      if (planned.operations.size() + more.operations.size() < operations_per_plan) {
        planned.operations.insert(planned.operations.end(), more.operations.begin(), more.operations.end());
        planned.matters_if_failed = planned.matters_if_failed || more.matters_if_failed;
      }
    }
    return with_file_kind(std::move(planned), phase);
  }

  [[nodiscard]] static PlannedCapture with_file_kind(PlannedCapture planned, CapturePhase phase) {
    if (phase == CapturePhase::entry && planned.operations.size() < operations_per_plan) {
      capture_operation op{};
      op.kind = capture_file_kind;
      op.length = slot_none;
      planned.operations.push_back(op);
    }
    return planned;
  }

  /// The shared numbers of which only the names are known.
  template <typename Plan>
  void add_shared(std::uint32_t slot, const capture_plan& plan, const Plan& plan_of) {
    const capture_plan with_kind = made([&](CapturePhase phase) { return with_file_kind(plan_of(phase), phase); });
    for (const std::uint32_t value : shared_) {
      form_plan form{};
      form.slot = slot + 1;
      form.value = value & plan.chooser_bits;
      form.plan = with_kind;
      form.plan.arguments = plan.arguments;
      forms_.push_back(form);  // behind those of rows, which go before it
    }
  }

  template <typename Plan>
  capture_plan made(const Plan& plan_of) {
    capture_plan plan{};
    const PlannedCapture entry = plan_of(CapturePhase::entry);
    const PlannedCapture exit = plan_of(CapturePhase::exit);
    if (const auto first = place(entry.operations)) {
      plan.entry_first = *first;
      plan.entry_count = static_cast<std::uint8_t>(entry.operations.size());
      plan.named_at_entry = kinds_named(entry.operations);
    }
    if (const auto first = place(exit.operations)) {
      plan.exit_first = *first;
      plan.exit_count = static_cast<std::uint8_t>(exit.operations.size());
      plan.named_at_exit = kinds_named(exit.operations);
    }
    plan.exit_if_failed = exit.matters_if_failed ? 1 : 0;
    return plan;
  }

  /// Where these operations stand among all, once for all plans that have the same. Nothing: there is no room, and the
  /// call shows addresses.
  std::optional<std::uint16_t> place(const std::vector<capture_operation>& operations) {
    if (operations.empty()) {
      return 0;
    }
    const std::string key(reinterpret_cast<const char*>(operations.data()), operations.size() * sizeof operations[0]);
    if (const auto known = places_.find(key); known != places_.end()) {
      return known->second;
    }
    if (plans_.operations.size() + operations.size() > most_operations) {
      return std::nullopt;
    }
    const auto first = static_cast<std::uint16_t>(plans_.operations.size());
    plans_.operations.insert(plans_.operations.end(), operations.begin(), operations.end());
    return places_[key] = first;
  }

  /// False: a form has found no place near enough to its own.
  bool fill_table(std::size_t size) {
    plans_.forms.assign(size, form_plan{});
    return std::all_of(forms_.begin(), forms_.end(), [&](const form_plan& form) {
      for (std::uint32_t i = 0; i < most_form_steps; ++i) {
        form_plan& there = plans_.forms[(place_of_form(form.slot - 1, form.value) + i) & (size - 1)];
        if (there.slot == 0 || (there.slot == form.slot && there.value == form.value)) {
          there = there.slot == 0 ? form : there;
          return true;
        }
      }
      return false;
    });
  }

  const PlannerSetting& setting_;
  const Tables& t_;
  std::set<std::uint32_t> shared_;  ///< numbers of ioctls that several drivers share
  CapturePlans plans_;
  std::map<std::string, std::uint16_t> places_;
  std::vector<form_plan> forms_;
};

}  // namespace

const capture_plan& CapturePlans::choose(Abi abi, std::uint32_t number, const Arguments& arguments) const {
  const capture_plan& plan = by_slot[slot_of(abi, number)];
  if (plan.chooser >= most_arguments) {
    return plan;
  }
  const auto value = static_cast<std::uint32_t>(arguments[plan.chooser]) & plan.chooser_bits;
  const capture_plan* form = this->form(abi, number, value);
  return form == nullptr ? plan : *form;
}

const capture_plan* CapturePlans::form(Abi abi, std::uint32_t number, std::uint32_t value) const {
  const auto slot = static_cast<std::uint32_t>(slot_of(abi, number));
  const std::uint32_t place = place_of_form(slot, value);
  for (std::uint32_t i = 0; i < most_form_steps; ++i) {
    const form_plan& there = forms[(place + i) & (forms.size() - 1)];
    if (there.slot == slot + 1 && there.value == value) {
      return &there.plan;
    }
    if (there.slot == 0) {
      break;
    }
  }
  return nullptr;
}

CapturePlans make_capture_plans(const Tables& tables, AbiMask abis, CaptureLimits limits) {
  const auto sockets = sockets_asked_for(tables);
  const PlannerSetting setting{tables, sockets, limits};
  PlanMaker maker(setting);
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    for (const NumberedCall& numbered : tables.numbers[i]) {
      if ((abis & mask_of(abi)) != 0 && numbered.call != none && numbered.number < numbers_per_abi) {
        maker.add(abi, numbered);
      }
    }
  }
  return maker.result();
}

}  // namespace tracer::capture
