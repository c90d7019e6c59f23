// Records that have left the kernel's buffer and wait to be decoded, oldest first.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>

namespace tracer::bpf {

/// Takes memory in large pieces as it grows, and keeps one of them when it is empty again.
class Backlog {
 public:
  /// Of `most` bytes, about.
  explicit Backlog(std::size_t most) : most_(most) {}

  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] bool full() const { return pieces_.size() * piece_size >= most_; }

  /// `record` is far smaller than piece_size. What is full takes it all the same.
  void add(std::span<const std::byte> record);

  /// Hands out up to `most` records, which are gone then. Returns how many there were.
  template <typename Take>
  std::size_t consume(std::size_t most, const Take& take) {
    std::size_t taken = 0;
    for (; taken < most && !pieces_.empty(); ++taken) {
      take(front());
      drop_front();
    }
    return taken;
  }

 private:
  static constexpr std::size_t piece_size = std::size_t{4} << 20;

  [[nodiscard]] std::span<const std::byte> front() const;
  void drop_front();

  struct Piece {
    std::unique_ptr<std::byte[]> bytes;  ///< length, record, filled up to eight bytes, and so on
    std::size_t used = 0;                ///< never 0
  };
  std::deque<Piece> pieces_;
  std::size_t done_ = 0;  ///< bytes of the first piece
  std::size_t most_;
  std::unique_ptr<std::byte[]> spare_;
};

}  // namespace tracer::bpf
