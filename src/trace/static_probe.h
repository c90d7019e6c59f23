// The event of a static probe (USDT).
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tracer::trace {

struct ProbeValue {
  bool known = false;  ///< false: it could not be read
  bool is_signed = false;
  bool is_floating = false;
  unsigned size = 8;       ///< in bytes, from the argument string of the probe
  std::uint64_t bits = 0;  ///< extended to 64 bits by its signedness
};

/// It is valid only while the event is handled, as is all that it points to.
struct ProbeHit {
  const std::string* provider = nullptr;
  const std::string* name = nullptr;
  const std::string* module = nullptr;  ///< soname or file name
  std::uint64_t instruction_pointer = 0;
  std::span<const ProbeValue> arguments;  ///< none where hits are only counted
  std::uint64_t count = 1;                ///< more where the kernel has counted them
};

}  // namespace tracer::trace
