#include "bpf/backlog.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/require.h"

namespace tracer::bpf {
namespace {

constexpr std::size_t filled_up(std::size_t size) {
  return (sizeof(std::uint64_t) + size + 7) / 8 * 8;
}

}  // namespace

void Backlog::add(std::span<const std::byte> record) {
  const std::size_t size = filled_up(record.size());
  require(size <= piece_size, "a record far smaller than a piece");
  if (pieces_.empty() || piece_size - pieces_.back().used < size) {
    pieces_.push_back({spare_ ? std::move(spare_) : std::make_unique_for_overwrite<std::byte[]>(piece_size), 0});
  }
  Piece& piece = pieces_.back();
  const std::uint64_t length = record.size();
  std::byte* at = piece.bytes.get() + piece.used;
  std::memcpy(at, &length, sizeof length);
  std::memcpy(at + sizeof length, record.data(), record.size());
  piece.used += size;
}

std::span<const std::byte> Backlog::front() const {
  std::uint64_t length = 0;
  const std::byte* at = pieces_.front().bytes.get() + done_;
  std::memcpy(&length, at, sizeof length);
  return {at + sizeof length, length};
}

void Backlog::drop_front() {
  done_ += filled_up(front().size());
  if (done_ == pieces_.front().used) {
    spare_ = std::move(pieces_.front().bytes);
    pieces_.pop_front();
    done_ = 0;
  }
}

}  // namespace tracer::bpf
