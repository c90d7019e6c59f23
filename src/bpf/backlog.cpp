#include "bpf/backlog.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace tracer {
namespace {

constexpr std::size_t filled_up(std::size_t size) {
  return (sizeof(std::uint64_t) + size + 7) / 8 * 8;
}

}  // namespace

void Backlog::add(std::span<const std::byte> record) {
  const std::size_t size = filled_up(record.size());
  if (pieces_.empty() || pieces_.back().capacity() - pieces_.back().size() < size) {
    pieces_.push_back(std::exchange(spare_, {}));
    pieces_.back().reserve(piece_size);
  }
  std::vector<std::byte>& piece = pieces_.back();
  const std::uint64_t length = record.size();
  const auto* head = reinterpret_cast<const std::byte*>(&length);
  piece.insert(piece.end(), head, head + sizeof length);
  piece.insert(piece.end(), record.begin(), record.end());
  piece.resize(piece.size() + size - sizeof length - record.size());
}

std::span<const std::byte> Backlog::front() const {
  std::uint64_t length = 0;
  const std::byte* at = pieces_.front().data() + done_;
  std::memcpy(&length, at, sizeof length);
  return {at + sizeof length, length};
}

void Backlog::drop_front() {
  done_ += filled_up(front().size());
  if (done_ == pieces_.front().size()) {
    spare_ = std::move(pieces_.front());
    spare_.clear();
    pieces_.pop_front();
    done_ = 0;
  }
}

}  // namespace tracer
