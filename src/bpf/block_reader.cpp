#include "bpf/block_reader.h"

#include <algorithm>

#include "bpf/record_front.h"

namespace tracer::bpf {

bool BlockReader::next(std::span<const std::byte>& record) {
  while (position_ >= (known_ & position_bits)) {
    record_block& block = blocks_[block_];
    if ((known_ & block_is_full) != 0) {
      __atomic_store_n(&block.end, 0, __ATOMIC_RELEASE);
      block_ = (block_ + 1) % blocks_.size();
      known_ = position_ = 0;
      continue;
    }
    const std::uint64_t end = end_of(block);
    if (end == known_) {
      return false;
    }
    known_ = end;
  }
  const std::uint64_t end = std::min<std::uint64_t>(known_ & position_bits, block_bytes);
  const std::byte* at = reinterpret_cast<const std::byte*>(blocks_[block_].bytes) + position_;
  const std::uint64_t room = end - std::min(position_, end);
  const std::uint64_t said = front_of({at, room}).size;
  const std::uint64_t size = std::min<std::uint64_t>(std::max<std::uint64_t>(said, sizeof(trace_record)), room);
  record = {at, size};
  position_ += (size + 7) / 8 * 8;
  return true;
}

std::size_t BlockReader::waiting() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint64_t end = end_of(blocks_[(block_ + i) % blocks_.size()]);
    bytes += end & position_bits;
    if ((end & block_is_full) == 0) {
      break;
    }
  }
  return bytes - std::min<std::size_t>(position_, bytes);
}

}  // namespace tracer::bpf
