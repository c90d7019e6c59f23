// Calls that programs make through another one, whose first argument selects them: accept through socketcall, semop
// through ipc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace tracer::spec {

struct SubCall {
  Abi abi = Abi::i386;
  std::uint64_t through = 0;  ///< the kernel's number of the multiplexing call
  std::uint64_t number = 0;   ///< identifies it in sets and counts of call numbers
  std::string_view name;      ///< as printed; valid as long as the tables
  ClassMask classes = 0;
};

/// The sub-calls of the tables, in a fixed order.
class SubCalls {
 public:
  /// The first number of sub-calls. The kernel has no numbers from here on: on an ABI with sub-calls they are 32-bit
  /// words, extended by their sign.
  static constexpr std::uint64_t first = std::uint64_t{1} << 32;
  /// The limit; later sub-calls are left out.
  static constexpr std::size_t most = 64;

  explicit SubCalls(const Tables& tables);

  [[nodiscard]] std::span<const SubCall> all() const { return calls_; }
  /// The calls that they are made through.
  struct Multiplexer {
    Abi abi;
    std::uint64_t number;
  };
  [[nodiscard]] std::span<const Multiplexer> multiplexers() const { return multiplexers_; }
  /// Returns the sub-call with this SubCall::number; nullptr if there is none.
  [[nodiscard]] const SubCall* find(std::uint64_t number) const {
    return number - first < calls_.size() ? &calls_[number - first] : nullptr;
  }
  /// Returns whether the kernel's number is that of a multiplexing call.
  [[nodiscard]] bool go_through(Abi abi, std::uint64_t number) const {
    return has_multiplexers_[index_of(abi)] && is_multiplexer(abi, number);
  }
  /// Returns the sub-call of that name of a multiplexing call; nullptr if there is none.
  [[nodiscard]] const SubCall* find(Abi abi, std::uint64_t through, std::string_view name) const;

 private:
  [[nodiscard]] bool is_multiplexer(Abi abi, std::uint64_t number) const;
  void add(Abi abi, std::uint64_t through, std::string_view name, ClassMask classes);

  std::vector<SubCall> calls_;
  std::vector<Multiplexer> multiplexers_;
  std::array<bool, abi_count> has_multiplexers_{};
};

}  // namespace tracer::spec
