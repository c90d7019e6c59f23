// How much work one call may make: a bound for tracees that describe endless data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trace/memory.h"

namespace tracer::decode {

/// What decoding one call may still cost: values shown, reads, bytes read, bytes written. No honest call comes near
/// the end of it; a call that does shows `...` for what is left. More bytes are granted to who wants long strings.
class Budget {
 public:
  /// No string shows more than this, whatever -s says.
  static constexpr std::uint32_t most_string_bytes = 64U << 20;
  static constexpr std::uint32_t most_values = 200'000;
  static constexpr std::uint32_t most_reads = 1U << 21;

  static constexpr std::uint64_t most_read(std::uint64_t string_limit) {
    return base_bytes + 4 * std::min<std::uint64_t>(string_limit, most_string_bytes);
  }
  static constexpr std::uint64_t most_written(std::uint64_t string_limit) {
    return base_bytes + 8 * std::min<std::uint64_t>(string_limit, most_string_bytes);
  }

  Budget() : Budget(0) {}
  explicit Budget(std::uint64_t string_limit)
      : to_read_(most_read(string_limit)), to_write_(most_written(string_limit)) {}

  [[nodiscard]] bool exhausted() const { return values_ == 0; }

  /// One more value; false if there may be none.
  bool spend_value() { return values_ != 0 && values_-- != 0; }

  /// One more read. After one that is too much nothing may be read nor shown.
  bool spend_read(std::uint64_t size) {
    if (reads_ == 0 || !affords(size)) {
      values_ = 0;
      return false;
    }
    --reads_;
    to_read_ -= size;
    return values_ != 0;
  }
  /// Whether so much could be read: to be asked before there is a place for it.
  [[nodiscard]] bool affords(std::uint64_t size) const { return size <= to_read_; }

  void spend_written(std::uint64_t size) {
    to_write_ -= std::min(size, to_write_);
    values_ = to_write_ == 0 ? 0 : values_;
  }

 private:
  static constexpr std::uint64_t base_bytes = 32U << 20;

  std::uint32_t values_ = most_values;
  std::uint32_t reads_ = most_reads;
  std::uint64_t to_read_;
  std::uint64_t to_write_;
};

/// A tracee's memory as far as a budget goes. Beyond it nothing can be read.
class MeteredMemory final : public trace::Memory {
 public:
  MeteredMemory(const trace::Memory& memory, Budget& budget) : memory_(memory), budget_(budget) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    return budget_.spend_read(into.size()) ? memory_.read(address, into) : 0;
  }
  void used(std::size_t size) const override { memory_.used(size); }
  [[nodiscard]] const trace::TaskSnapshot* snapshot() const override { return memory_.snapshot(); }

 private:
  const trace::Memory& memory_;
  Budget& budget_;
};

}  // namespace tracer::decode
