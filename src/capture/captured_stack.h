// The stack of a thread that has run on since its call: registers and memory as a recorder has copied them.
#pragma once

#include <cstddef>
#include <span>

#include "capture/plan.h"
#include "trace/memory.h"
#include "trace/stack.h"

namespace tracer::capture {

/// Finds the registers, which are at registers_address of the event's memory; what the stack held is at its place in
/// the same memory. Both outlive this.
class CapturedStack final : public trace::StackSource {
 public:
  explicit CapturedStack(const trace::Memory& memory, std::span<const proc::MappedRange> mappings = {})
      : memory_(memory), mappings_(mappings) {}

  /// What is missing at the end are segments.
  [[nodiscard]] std::size_t registers(std::span<std::byte> into) const override {
    return memory_.read(RemoteAddr(registers_address), into) == 0 ? 0 : into.size();
  }
  [[nodiscard]] std::span<const proc::MappedRange> mappings() const override { return mappings_; }
  [[nodiscard]] bool is_past() const override { return true; }

 private:
  const trace::Memory& memory_;
  std::span<const proc::MappedRange> mappings_;
};

}  // namespace tracer::capture
