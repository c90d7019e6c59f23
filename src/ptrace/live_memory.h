// The memory of a stopped thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptrace/memory_process.h"
#include "trace/memory.h"

namespace tracer::ptrace {

/// Reads with process_vm_readv(2), or word by word where that is refused. What one stop has read is kept until
/// forget() says that the thread went on, so that a string in one page costs one read.
class LiveMemory final : public trace::Memory {
 public:
  explicit LiveMemory(pid_t tid) : tid_(tid) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override;

  /// Reads in this process from now on; null: directly.
  void read_in(MemoryProcess* process) {
    process_ = process;
    hangs_ = false;
  }

  void forget() const { used_ = 0; }
  /// The thread took over another id.
  void move_to(pid_t tid) {
    tid_ = tid;
    forget();
  }

 private:
  static constexpr std::size_t page_size = 4096;
  static constexpr std::size_t slots = 4;

  struct Page {
    std::uint64_t address = 0;
    std::size_t valid = 0;  ///< bytes at the start that could be read
    std::array<std::byte, page_size> bytes;
  };

  const Page& page_at(std::uint64_t address) const;
  std::size_t read_directly(std::uint64_t address, std::span<std::byte> into) const;
  std::size_t read_by_words(std::uint64_t address, std::span<std::byte> into) const;

  pid_t tid_;
  mutable MemoryProcess* process_ = nullptr;
  mutable bool hangs_ = false;       ///< a read has not come to an end; there are no more
  mutable std::vector<Page> pages_;  ///< the first used_ are of this stop
  mutable std::size_t used_ = 0;
  mutable std::size_t next_victim_ = 0;
  mutable bool refused_ = false;  ///< process_vm_readv does not work here
};

}  // namespace tracer::ptrace
