// Sets of system calls, as -e trace=, abbrev=, raw=, verbose=, inject= and fault= name them.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "spec/spec.h"

namespace tracer::filter {

/// One bit for each call number of each ABI. Numbers from `limit` on are in every set.
class SyscallSet {
 public:
  static constexpr std::size_t limit = 1024;
  using Bits = std::bitset<limit>;

  SyscallSet() = default;
  [[nodiscard]] static SyscallSet all();

  void add(Abi abi, std::uint64_t number) {
    if (number < limit) {
      bits_[index_of(abi)].set(number);
    }
  }
  void invert();
  /// Adds every member of `other`.
  void add_all(const SyscallSet& other);

  [[nodiscard]] bool contains(Abi abi, std::uint64_t number) const {
    return number >= limit || bits_[index_of(abi)].test(number);
  }
  [[nodiscard]] const Bits& bits(Abi abi) const { return bits_[index_of(abi)]; }
  /// The same layout as the engine's WantedCalls.
  [[nodiscard]] const std::array<Bits, abi_count>& bits() const { return bits_; }
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool empty() const;

  bool operator==(const SyscallSet&) const = default;

 private:
  std::array<Bits, abi_count> bits_{};
};

/// Reads `[!]ITEM[,ITEM]…`. An item is a name, a number, `/` and a POSIX extended regular expression, `%class`, an
/// old class name without `%`, `all` or `none`; `?` before it says that it may match nothing; `@64`, `@32` or `@x32`
/// after it picks an ABI of `abis`. The error's message is strace's, without the program's name in front.
[[nodiscard]] Result<SyscallSet> parse_syscall_set(std::string_view text, const spec::Tables& tables,
                                                   AbiMask abis = all_abis);

}  // namespace tracer::filter
