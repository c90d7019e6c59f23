// Short-lived bytes, taken and given back in stack order, so that decoding an ordinary call allocates nothing in the
// long run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tracer::decode {

class Scratch {
 public:
  /// The blocks in use at one moment; everything taken later is given back together.
  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };

  /// Uninitialised bytes, valid until the mark before them is released.
  std::span<std::byte> take(std::size_t size) {
    if (block_ == blocks_.size() || blocks_[block_].size - used_ < size) {
      find_block(size);
    }
    const Block& block = blocks_[block_];
    const std::span<std::byte> taken(block.bytes.get() + used_, size);
    used_ = std::min(used_ + (size + alignment - 1) / alignment * alignment, block.size);
    return taken;
  }

  [[nodiscard]] Mark mark() const { return {block_, used_}; }
  void release(Mark mark) {
    // What was made for one big value does not stay for the thread's life.
    while (blocks_.size() > mark.block + 1 && blocks_.back().size > block_size) {
      blocks_.pop_back();
    }
    block_ = mark.block;
    used_ = mark.used;
  }

 private:
  static constexpr std::size_t block_size = 32 * 1024;
  static constexpr std::size_t alignment = 8;

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  [[gnu::noinline]] void find_block(std::size_t size) {
    while (block_ < blocks_.size() && blocks_[block_].size - used_ < size) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      const std::size_t capacity = std::max(size, block_size);
      blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(capacity), capacity});
      used_ = 0;
    }
  }

  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
};

/// Gives back at the end of a block of code what was taken in it.
class ScratchGuard {
 public:
  explicit ScratchGuard(Scratch& scratch) : scratch_(scratch), mark_(scratch.mark()) {}
  ScratchGuard(const ScratchGuard&) = delete;
  ScratchGuard& operator=(const ScratchGuard&) = delete;
  ~ScratchGuard() { scratch_.release(mark_); }

 private:
  Scratch& scratch_;
  Scratch::Mark mark_;
};

}  // namespace tracer::decode
