// Carries out capture plans in user space: what the BPF programs do in the kernel (bpf/kernel/capture.bpf.h), and by
// the same rules, which plan.h states. It allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/plan.h"
#include "trace/memory.h"

namespace tracer::capture {

using Slots = std::array<std::uint64_t, slots>;

/// What a plan copies and names, in the order of its operations.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  virtual ~Recorder() = default;

  /// At most largest_text bytes; larger blocks come in pieces. The bytes are gone afterwards.
  virtual void memory(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  /// The call names a descriptor or an id. `pidfd` is the descriptor of the process that a named_behind_pidfd is of.
  virtual void named(named_kind kind, std::uint32_t number, std::uint32_t pidfd) = 0;
  /// Somebody asks whether this descriptor is a netlink socket.
  virtual void netlink(std::uint32_t descriptor) = 0;
  /// Somebody asks whose ioctls this descriptor has.
  virtual void file_kind(std::uint32_t /*descriptor*/) {}
  /// There is no room for more: the loops of the plan end.
  [[nodiscard]] virtual bool full() const { return false; }
};

/// Carries out the operations of one plan, at the entry or at the exit of a call. `values` has the arguments, the stack
/// pointer and, at the exit, the result; the other slots are overwritten.
void carry_out(std::span<const capture_operation> operations, Slots& values, const trace::Memory& memory,
               Recorder& recorder);

}  // namespace tracer::capture
