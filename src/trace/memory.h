// Where a decoder reads a tracee's memory from: the live process, a captured record, or a test's fake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/remote_addr.h"

namespace tracer {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Copies up to `into.size()` bytes from `address` on and returns how many were there, from the start and without
  /// a gap. 0 where nothing can be read. Never throws; the tracee may change or unmap the bytes at any time, so two
  /// reads of one place can differ.
  [[nodiscard]] virtual std::size_t read(RemoteAddr address, std::span<std::byte> into) const = 0;

  /// What was captured beside memory: the protocol (NETLINK_ROUTE, …) of the tracee's descriptor if it is a netlink
  /// socket, else -1. Nothing: who wants to know looks itself.
  [[nodiscard]] virtual std::optional<std::int32_t> netlink_protocol([[maybe_unused]] std::int32_t fd) const {
    return std::nullopt;
  }
};

/// Of a thread that nothing can be read from.
class NoMemory final : public Memory {
 public:
  [[nodiscard]] std::size_t read(RemoteAddr, std::span<std::byte>) const override { return 0; }
};

}  // namespace tracer
