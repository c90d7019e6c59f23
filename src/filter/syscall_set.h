// Sets of system calls for -e trace=, abbrev=, raw=, verbose=, inject= and fault=.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "spec/spec.h"
#include "spec/sub_calls.h"

namespace tracer::filter {

/// Holds one bit for each call number of each ABI and for each sub-call (the calls behind ipc(2), socketcall(2)).
class SyscallSet {
 public:
  static constexpr std::size_t limit = 1024;
  using Bits = std::bitset<limit>;

  SyscallSet() = default;
  [[nodiscard]] static SyscallSet all();

  /// Adds one call.
  void add(Abi abi, std::uint64_t number) {
    if (number < limit) {
      bits_[index_of(abi)].set(number);
    } else if (is_sub_call(number)) {
      sub_calls_.set(number - spec::SubCalls::first);
    } else {
      set_high(abi, number, true);
    }
  }
  /// Adds every number that the tables do not know, because a call without a name passes every trace filter.
  void add_unknown(const spec::Tables& tables);
  /// Negates the set.
  void invert();

  [[nodiscard]] bool contains(Abi abi, std::uint64_t number) const {
    return number < limit        ? bits_[index_of(abi)].test(number)
           : is_sub_call(number) ? sub_calls_.test(number - spec::SubCalls::first)
                                 : above_limit_ != is_exception(abi, number);
  }
  /// Returns the call numbers of all members as the kernel sees them: a sub-call counts as the call that contains it.
  /// The layout is that of the engine's WantedCalls.
  [[nodiscard]] std::array<Bits, abi_count> kernel_numbers(const spec::Tables& tables) const;
  /// True if a call that the tables know is a member.
  [[nodiscard]] bool has_known(const spec::Tables& tables) const;
  [[nodiscard]] bool full() const { return *this == all(); }
  [[nodiscard]] bool empty() const { return *this == SyscallSet{}; }

  bool operator==(const SyscallSet&) const = default;

 private:
  using High = std::pair<Abi, std::uint64_t>;

  static bool is_sub_call(std::uint64_t number) { return number - spec::SubCalls::first < spec::SubCalls::most; }
  [[nodiscard]] bool is_exception(Abi abi, std::uint64_t number) const {
    return std::binary_search(exceptions_.begin(), exceptions_.end(), High{abi, number});
  }
  void set_high(Abi abi, std::uint64_t number, bool member);

  std::array<Bits, abi_count> bits_{};
  std::bitset<spec::SubCalls::most> sub_calls_;
  bool above_limit_ = false;      ///< whether all numbers of `limit` and above are members, but for
  std::vector<High> exceptions_;  ///< sorted; arm has calls there, such as set_tls
};

/// The tables and ABIs in which names of calls are looked up.
struct SyscallNames {
  const spec::Tables& tables;
  AbiMask abis = all_abis;        ///< an item without `@` matches calls of all of these
  bool suggest_near_miss = true;  ///< append `; did you mean X?` to the error for an unknown name
};

/// Parses `[!]ITEM[,ITEM]…`, `all` or `none`. An item is a name, a number, `/` and a POSIX extended regular expression,
/// `%class`, an old class name without `%`, or `all`. The prefix `?` allows the item to match nothing; the suffix
/// `@64`, `@32` or `@x32` selects one ABI. The error's message is strace's; its number is EINVAL for a bad `@`, which
/// is a usage error, and 0 otherwise.
[[nodiscard]] Result<SyscallSet> parse_syscall_set(std::string_view text, const SyscallNames& names);

/// True if every ABI of `names` has a call of this name that belongs to the class `wanted`.
[[nodiscard]] bool in_class_everywhere(std::string_view call, spec::CallClass wanted, const SyscallNames& names);

}  // namespace tracer::filter
