#include "pipeline/tampering.h"

#include <algorithm>

namespace tracer::pipeline {

namespace {

/// Removes the pokes of arguments that the call does not have, and adds those arguments to `missing`.
void keep_existing(std::vector<trace::Poke>& pokes, std::size_t argument_count, std::vector<std::size_t>& missing) {
  const auto absent = [&](const trace::Poke& poke) { return poke.argument >= argument_count; };
  for (const trace::Poke& poke : pokes) {
    if (absent(poke)) {
      missing.push_back(poke.argument);
    }
  }
  pokes.erase(std::remove_if(pokes.begin(), pokes.end(), absent), pokes.end());
}

}  // namespace

TamperRules::TamperRules(std::vector<TamperRule> rules, const spec::Tables& tables) : rules_(std::move(rules)) {
  if (rules_.empty()) {
    return;
  }
  const spec::SubCalls sub_calls(tables);
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    for (std::size_t a = 0; a < abi_count; ++a) {
      const auto abi = static_cast<Abi>(a);
      for (const spec::NumberedCall& row : tables.numbers[a]) {
        // A call without a description is in no set that the user can name.
        if (row.call != spec::none) {
          const spec::Call& call = tables.calls[row.call];
          add(i, abi, row.number, tables.register_count(tables.signatures[call.signature], abi),
              tables.text(call.name));
        }
      }
    }
    for (const spec::SubCall& call : sub_calls.all()) {
      add(i, call.abi, call.number, 0, call.name);
    }
  }
}

void TamperRules::add(std::size_t rule, Abi abi, std::uint64_t number, std::size_t argument_count,
                      std::string_view call) {
  if (!rules_[rule].calls.contains(abi, number)) {
    return;
  }
  Plan plan;
  plan.rule = rule;
  plan.what = rules_[rule].what;
  plan.argument_count = argument_count;
  plan.call = call;
  keep_existing(plan.what.poke_enter, argument_count, plan.missing_at_entry);
  keep_existing(plan.what.poke_exit, argument_count, plan.missing_at_exit);
  plans_[key_of(abi, number)] = std::move(plan);
}

TamperRules::Choice TamperRules::choose(Abi abi, std::uint64_t number, CallCounts& counts) const {
  const Plan* plan = find(abi, number);
  if (plan == nullptr) {
    return {};
  }
  const std::uint32_t count = ++counts[key_of(abi, number)];
  const TamperRule& rule = rules_[plan->rule];
  if (count < rule.first || count > rule.last || (count - rule.first) % rule.step != 0) {
    return {};
  }
  return {&plan->what, &plan->missing_at_entry, &plan->missing_at_exit, plan->argument_count, plan->call};
}

std::uint64_t TamperRules::key_of(Abi abi, std::uint64_t number) {
  return static_cast<std::uint64_t>(index_of(abi)) << 40 | number;
}

const TamperRules::Plan* TamperRules::find(Abi abi, std::uint64_t number) const {
  if (plans_.empty() || number >> 40 != 0) {
    return nullptr;
  }
  const auto at = plans_.find(key_of(abi, number));
  return at == plans_.end() ? nullptr : &at->second;
}

}  // namespace tracer::pipeline
