// The memory of a tracee at an event, as decoders read it: from the live process, a captured record, or a test's fake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/remote_addr.h"

namespace tracer::trace {

class TaskSnapshot;

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

  /// Reports that of the bytes of the last read() only the first `size` mattered: a text ended there.
  virtual void used([[maybe_unused]] std::size_t size) const {}

  /// Returns what was captured beside memory of a thread that has run on since the event. Null: the thread is stopped,
  /// and /proc shows its state. Valid as long as the memory.
  [[nodiscard]] virtual const TaskSnapshot* snapshot() const { return nullptr; }
};

/// The memory of a thread that nothing can be read from.
class NoMemory final : public Memory {
 public:
  [[nodiscard]] std::size_t read(RemoteAddr, std::span<std::byte>) const override { return 0; }
};

}  // namespace tracer::trace
