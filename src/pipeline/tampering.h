// Selects the calls to tamper with: -e inject= and -e fault=.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filter/syscall_set.h"
#include "spec/spec.h"
#include "trace/tampering.h"

namespace tracer::pipeline {

/// One -e inject= or -e fault=.
struct TamperRule {
  filter::SyscallSet calls;
  trace::Tampering what;
  // Counted for each call and each thread from 1: first, first + step, … up to last.
  std::uint32_t first = 1;
  std::uint32_t last = ~std::uint32_t{0};
  std::uint32_t step = 1;
};

/// How often a thread has entered each call that has a rule.
using CallCounts = std::unordered_map<std::uint64_t, std::uint32_t>;

class TamperRules {
 public:
  /// If several rules match a call, only the last one applies.
  explicit TamperRules(std::vector<TamperRule> rules, const spec::Tables& tables);

  struct Choice {
    const trace::Tampering* what = nullptr;  ///< valid as long as the rules; null: do nothing
    /// The arguments, counted from 0, that have a poke and that the call does not have. They are not in `what`.
    const std::vector<std::size_t>* missing_at_entry = nullptr;
    const std::vector<std::size_t>* missing_at_exit = nullptr;
    std::size_t argument_count = 0;  ///< those in registers; a sub-call has none
    std::string_view call;           ///< its name, valid as long as the tables
  };

  [[nodiscard]] bool empty() const { return plans_.empty(); }
  /// Returns whether a call of this number may be chosen.
  [[nodiscard]] bool mention(Abi abi, std::uint64_t number) const { return find(abi, number) != nullptr; }
  /// Counts the call and chooses what to do to it.
  Choice choose(Abi abi, std::uint64_t number, CallCounts& counts) const;

 private:
  /// A rule, applied to one call.
  struct Plan {
    std::size_t rule = 0;
    trace::Tampering what;
    std::vector<std::size_t> missing_at_entry;
    std::vector<std::size_t> missing_at_exit;
    std::size_t argument_count = 0;
    std::string_view call;
  };

  void add(std::size_t rule, Abi abi, std::uint64_t number, std::size_t argument_count, std::string_view call);
  static std::uint64_t key_of(Abi abi, std::uint64_t number);
  [[nodiscard]] const Plan* find(Abi abi, std::uint64_t number) const;

  std::vector<TamperRule> rules_;
  std::unordered_map<std::uint64_t, Plan> plans_;
};

}  // namespace tracer::pipeline
