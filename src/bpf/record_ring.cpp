#include "bpf/record_ring.h"

#include <fmt/core.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace tracer::bpf {

Result<RecordRing> RecordRing::open(int map, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t produced = page + 2 * size;
  Mapping consumer = map_file(map, page, PROT_READ | PROT_WRITE, MAP_SHARED);
  Mapping producer = consumer ? map_file(map, produced, PROT_READ, MAP_SHARED, page) : nullptr;
  if (!producer) {
    return Error{errno, fmt::format("the ring buffer of the BPF programs cannot be mapped: {}", std::strerror(errno))};
  }
  return RecordRing(std::move(consumer), std::move(producer), page, size);
}

RecordRing::RecordRing(Mapping consumer, Mapping producer, std::size_t page, std::size_t size)
    : consumer_(std::move(consumer)),
      producer_(std::move(producer)),
      data_(static_cast<const std::byte*>(producer_.get()) + page),
      mask_(size - 1) {}

std::size_t RecordRing::waiting() const {
  return __atomic_load_n(static_cast<const std::uint64_t*>(producer_.get()), __ATOMIC_ACQUIRE) - position_;
}

RecordRing::Look RecordRing::next(std::span<const std::byte>& record) {
  taken_ = position_;
  // The kernel wants its room back early, but not the cache line with every record.
  if (taken_ - returned_ >= room_returned_at_once) {
    give_back();
  }
  for (;;) {
    // Seldom looked at: whoever writes records waits for the cache line as long as we have it.
    if (position_ == known_ && (known_ = position_ + waiting()) == position_) {
      return Look::nothing;
    }
    const std::byte* at = data_ + (position_ & mask_);
    const std::uint32_t head = __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE);
    if ((head & BPF_RINGBUF_BUSY_BIT) != 0) {
      return Look::busy;
    }
    const std::size_t length = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    position_ += (length + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    if ((head & BPF_RINGBUF_DISCARD_BIT) == 0) {
      record = {at + BPF_RINGBUF_HDR_SZ, length};
      return Look::record;
    }
  }
}

void RecordRing::give_back() {
  if (returned_ != taken_) {
    returned_ = taken_;
    __atomic_store_n(static_cast<std::uint64_t*>(consumer_.get()), returned_, __ATOMIC_RELEASE);
  }
}

}  // namespace tracer::bpf
