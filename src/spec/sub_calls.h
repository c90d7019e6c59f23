// Calls that programs make through another one, whose first argument selects them: accept through socketcall, semop
// through ipc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace tracer::spec {

struct SubCall {
  Abi abi = Abi::i386;
  std::uint64_t through = 0;  ///< the kernel's number of the call around it
  std::uint64_t number = 0;   ///< stands for it where calls have numbers, in sets and in counts
  std::string_view name;      ///< as printed; valid as long as the tables
  ClassMask classes = 0;
};

/// All of them, in a fixed order.
class SubCalls {
 public:
  /// The kernel has no numbers from here on: of an ABI with sub-calls they are words of 32 bits, extended by their
  /// sign.
  static constexpr std::uint64_t first = std::uint64_t{1} << 32;
  /// Of more, the later ones are left out.
  static constexpr std::size_t most = 64;

  explicit SubCalls(const Tables& tables);

  [[nodiscard]] std::span<const SubCall> all() const { return calls_; }
  /// By SubCall::number; nullptr: none.
  [[nodiscard]] const SubCall* find(std::uint64_t number) const {
    return number - first < calls_.size() ? &calls_[number - first] : nullptr;
  }
  /// Whether the kernel's number is that of a call around others.
  [[nodiscard]] bool go_through(Abi abi, std::uint64_t number) const;
  /// nullptr: none of that name goes through this call.
  [[nodiscard]] const SubCall* find(Abi abi, std::uint64_t through, std::string_view name) const;

 private:
  struct Around {
    Abi abi;
    std::uint64_t number;
  };

  void add(Abi abi, std::uint64_t through, std::string_view name, ClassMask classes);

  std::vector<SubCall> calls_;
  std::vector<Around> around_;  ///< the few calls that they go through
};

}  // namespace tracer::spec
