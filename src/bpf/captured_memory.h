// The memory of a call as the kernel's programs copied it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "bpf/captured_snapshot.h"
#include "trace/memory.h"

namespace tracer::bpf {

/// Reads from areas of chunks (trace_chunk and its bytes, one after the other), which have to outlive it; from the
/// second what the first does not have. What is in no chunk cannot be read.
class CapturedMemory final : public trace::Memory {
 public:
  using Area = std::span<const std::byte>;
  /// `commands` and `state`: see CapturedSnapshot.
  explicit CapturedMemory(Area area, Area more = {}, const KnownCommands* commands = nullptr,
                          const trace::TaskState* state = nullptr)
      : areas_{area, more}, snapshot_(area, more, commands, state) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override;
  [[nodiscard]] const trace::TaskSnapshot* snapshot() const override { return &snapshot_; }

 private:
  std::array<Area, 2> areas_;
  CapturedSnapshot snapshot_;
};

}  // namespace tracer::bpf
