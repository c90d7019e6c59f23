// What a handler may ask an engine to do to a call besides watching it (-e inject=, -e fault=).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/abi.h"

namespace tracer::trace {

/// Bytes for where an argument points to.
struct Poke {
  std::size_t argument = 0;  ///< from 0
  std::vector<std::byte> data;
};

struct Tampering {
  /// The number of no call: the kernel runs none and fails with ENOSYS.
  static constexpr std::uint64_t no_call = ~std::uint64_t{0};

  struct Result {
    std::uint64_t value = 0;  ///< an errno value if `is_error`
    bool is_error = false;
  };

  /// What the call seems to return. It does not run; `instead` does, and what that returns is lost.
  std::optional<Result> result;
  std::array<std::uint64_t, abi_count> instead = {no_call, no_call, no_call, no_call, no_call};
  int signal = 0;  ///< sent at the entry, so that it interrupts a call that blocks; 0: none
  /// How long the thread is held at the stops; zero marks the call and holds nothing.
  std::optional<std::chrono::nanoseconds> delay_enter;
  std::optional<std::chrono::nanoseconds> delay_exit;
  std::vector<Poke> poke_enter;
  std::vector<Poke> poke_exit;
};

/// What an engine did of it.
struct Tampered {
  bool arguments = false;  ///< at least one poke was written
  bool result = false;
  bool signal = false;
  bool delayed = false;
  bool poke_failed = false;  ///< since the last event, at least one could not be written

  [[nodiscard]] bool any() const { return arguments || result || signal || delayed; }
};

}  // namespace tracer::trace
