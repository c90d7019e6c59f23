// Sets of system calls, as -e trace=, abbrev=, raw=, verbose=, inject= and fault= name them.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "spec/spec.h"
#include "spec/sub_calls.h"

namespace tracer::filter {

/// One bit for each call number of each ABI, and for each sub-call.
class SyscallSet {
 public:
  static constexpr std::size_t limit = 1024;
  using Bits = std::bitset<limit>;

  SyscallSet() = default;
  [[nodiscard]] static SyscallSet all();

  /// Numbers from `limit` on, but those of sub-calls, have no bit of their own: see add_unknown.
  void add(Abi abi, std::uint64_t number) {
    if (number < limit) {
      bits_[index_of(abi)].set(number);
    } else if (is_sub_call(number)) {
      sub_calls_.set(number - spec::SubCalls::first);
    }
  }
  /// Adds every number that the tables do not know. (A call without a name passes every trace filter.)
  void add_unknown(const spec::Tables& tables);
  void invert();

  [[nodiscard]] bool contains(Abi abi, std::uint64_t number) const {
    return number < limit        ? bits_[index_of(abi)].test(number)
           : is_sub_call(number) ? sub_calls_.test(number - spec::SubCalls::first)
                                 : beyond_;
  }
  /// The kernel's numbers of all members, for sub-calls of those around them. The same layout as the engine's
  /// WantedCalls.
  [[nodiscard]] std::array<Bits, abi_count> kernel_numbers(const spec::Tables& tables) const;
  [[nodiscard]] bool full() const { return *this == all(); }
  [[nodiscard]] bool empty() const { return *this == SyscallSet{}; }

  bool operator==(const SyscallSet&) const = default;

 private:
  static bool is_sub_call(std::uint64_t number) { return number - spec::SubCalls::first < spec::SubCalls::most; }

  std::array<Bits, abi_count> bits_{};
  std::bitset<spec::SubCalls::most> sub_calls_;
  bool beyond_ = false;  // whether numbers from `limit` on are members
};

/// What names of calls are looked up in.
struct SyscallNames {
  const spec::Tables& tables;
  AbiMask abis = all_abis;        ///< an item without `@` stands for the calls of all of these
  bool suggest_near_miss = true;  ///< add `; did you mean X?` to the message about an unknown name
};

/// Reads `[!]ITEM[,ITEM]…`, `all` or `none`. An item is a name, a number, `/` and a POSIX extended regular expression,
/// `%class`, an old class name without `%`, or `all`. `?` before it says that it may match nothing; `@64`, `@32` or
/// `@x32` after it picks one ABI. The error's message is strace's; its number is EINVAL for a bad `@`, which is a
/// usage error, and 0 otherwise.
[[nodiscard]] Result<SyscallSet> parse_syscall_set(std::string_view text, const SyscallNames& names);

/// True if every ABI of `names` has a call of this name and counts it among `wanted`.
[[nodiscard]] bool in_class_everywhere(std::string_view call, spec::CallClass wanted, const SyscallNames& names);

}  // namespace tracer::filter
