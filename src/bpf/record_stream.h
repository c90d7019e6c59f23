// The records of all CPUs and of the ring buffer, in the order of time. Private to this directory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpf/block_reader.h"
#include "bpf/record_ring.h"

namespace tracer::bpf {

/// Merges the ring buffer that all CPUs share with the blocks of each CPU, by the times of the records. The time of a
/// record is when its program began to make it. A record that may be a consequence of another (the exit of a call, or
/// a read of what another thread wrote) begins after the other has been handed over. So after reading the clock and
/// then looking at all sources, the stream has every record on which a record up to that time can depend.
class RecordStream {
 public:
  using Bytes = std::span<const std::byte>;

  /// `blocks` are those of the first CPU, then those of the next; each has `each` to look into, and one more.
  RecordStream(RecordRing ring, std::span<record_block> blocks, std::size_t each);

  /// So far is the clock of the kernel's programs before CLOCK_MONOTONIC here, at least.
  void set_clock_offset(std::chrono::nanoseconds offset) { clock_offset_ = offset; }
  /// Nothing more will come: what is there is all, whatever the clock says.
  void complete() { complete_ = true; }

  /// Hands out up to `most` records; each is valid only during its `take`, which must not throw. Returns how many there
  /// were.
  template <typename Take>
  std::size_t consume(std::size_t most, const Take& take) {
    const std::uint64_t now = kernel_time();
    look_everywhere();
    std::size_t taken = 0;
    while (taken < most && !busy_) {
      const Choice choice = earliest(now);
      if (choice.source == nowhere) {
        break;
      }
      Front& front = fronts_[choice.source];
      do {
        take(front.record);
        ++taken;
        advance(choice.source);
      } while (taken < most && front.time <= choice.until && !busy_);
    }
    ring_.give_back();
    return taken;
  }

  /// Bytes that wait to be taken, and have room, everywhere together.
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t size() const { return ring_.size() + readers_.size() * each_ * block_bytes; }

 private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  struct Front {
    Bytes record;
    std::uint64_t time = never;  ///< never: there is none
  };
  /// Which source to take from, and until when no other is earlier.
  struct Choice {
    std::size_t source = nowhere;
    std::uint64_t until = 0;
  };

  [[nodiscard]] std::uint64_t kernel_time() const;
  void look_everywhere();
  [[nodiscard]] Choice earliest(std::uint64_t now) const;
  void advance(std::size_t source);

  RecordRing ring_;
  std::vector<BlockReader> readers_;
  std::size_t each_;
  std::vector<Front> fronts_;  ///< the ring's, then those of the CPUs
  bool busy_ = false;          ///< the ring's next record is being written
  std::chrono::nanoseconds clock_offset_{};
  bool complete_ = false;
};

}  // namespace tracer::bpf
