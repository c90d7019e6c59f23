// What an engine can change in a call (-e inject=, -e fault=).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/abi.h"

namespace tracer::trace {

/// Bytes to write where an argument points to.
struct Poke {
  std::size_t argument = 0;  ///< from 0
  std::vector<std::byte> data;
};

struct Tampering {
  /// An invalid call number: the kernel fails with ENOSYS.
  static constexpr std::uint64_t no_call = ~std::uint64_t{0};

  struct Result {
    std::uint64_t value = 0;  ///< an errno value if `is_error`
    bool is_error = false;
  };

  /// The result that replaces the call's. The call does not run; `instead` does, and its result is discarded.
  std::optional<Result> result;
  std::array<std::uint64_t, abi_count> instead = {no_call, no_call, no_call, no_call, no_call};
  int signal = 0;  ///< sent at the entry, so that it interrupts a blocking call; 0: none
  /// How long the thread is kept stopped; zero marks the call as delayed without a delay.
  std::optional<std::chrono::nanoseconds> delay_enter;
  std::optional<std::chrono::nanoseconds> delay_exit;
  std::vector<Poke> poke_enter;
  std::vector<Poke> poke_exit;
};

/// What an engine has changed.
struct Tampered {
  bool arguments = false;  ///< at least one poke was written
  bool result = false;
  bool signal = false;
  bool delayed = false;
  bool poke_failed = false;  ///< at least one poke since the last event failed

  [[nodiscard]] bool any() const { return arguments || result || signal || delayed; }
};

}  // namespace tracer::trace
