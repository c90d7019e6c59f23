// The reader's end of the blocks of one CPU. Private to this directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bpf/record_block.h"

namespace tracer::bpf {

/// What the programs leave on one CPU, in place and in the order in which it was left.
class BlockReader {
 public:
  /// `blocks` stay where they are; the programs begin with the first.
  explicit BlockReader(std::span<record_block> blocks) : blocks_(blocks) {}

  /// Passes on to the next record, which is valid until the call after; those before it have been taken. False: there
  /// is none yet.
  bool next(std::span<const std::byte>& record);

  /// Bytes that wait to be taken.
  [[nodiscard]] std::size_t waiting() const;

 private:
  static constexpr std::uint64_t position_bits = block_is_full - 1;

  [[nodiscard]] static std::uint64_t end_of(const record_block& block) {
    return __atomic_load_n(&block.end, __ATOMIC_ACQUIRE);
  }

  std::span<record_block> blocks_;
  std::size_t block_ = 0;
  std::uint64_t position_ = 0;  ///< behind the last record that was handed out
  std::uint64_t known_ = 0;     ///< record_block::end when we looked last
};

}  // namespace tracer::bpf
