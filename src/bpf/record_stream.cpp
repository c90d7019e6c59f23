#include "bpf/record_stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "bpf/record_front.h"

namespace tracer::bpf {

RecordStream::RecordStream(RecordRing ring, std::span<record_block> blocks, std::size_t each)
    : ring_(std::move(ring)), each_(each) {
  for (; each != 0 && blocks.size() > each; blocks = blocks.subspan(each + 1)) {
    readers_.emplace_back(blocks.first(each));
  }
  fronts_.resize(1 + readers_.size());
}

std::size_t RecordStream::waiting() const {
  return std::accumulate(readers_.begin(), readers_.end(), ring_.waiting(),
                         [](std::size_t sum, const BlockReader& reader) { return sum + reader.waiting(); });
}

std::uint64_t RecordStream::kernel_time() const {
  return complete_ ? never - 1 : static_cast<std::uint64_t>((clock_now(CLOCK_MONOTONIC) + clock_offset_).count());
}

void RecordStream::look_everywhere() {
  for (std::size_t source = 0; source < fronts_.size(); ++source) {
    if (fronts_[source].time == never) {
      advance(source);
    }
  }
}

RecordStream::Choice RecordStream::earliest(std::uint64_t now) const {
  Choice choice;
  std::uint64_t first = never;
  std::uint64_t second = never;
  for (std::size_t source = 0; source < fronts_.size(); ++source) {
    const std::uint64_t time = fronts_[source].time;
    if (time < first) {
      second = std::exchange(first, time);
      choice.source = source;
    } else {
      second = std::min(second, time);
    }
  }
  if (first > now) {
    return {};
  }
  choice.until = std::min(second, now);
  return choice;
}

void RecordStream::advance(std::size_t source) {
  Front& front = fronts_[source];
  bool any = false;
  if (source == 0) {
    const RecordRing::Look look = ring_.next(front.record);
    any = look == RecordRing::Look::record;
    busy_ = look == RecordRing::Look::busy;
  } else {
    any = readers_[source - 1].next(front.record);
  }
  front.time = any ? front_of(front.record).time : never;
}

}  // namespace tracer::bpf
