// Keeps what was copied at the entries of open calls, because the result may be decoded with it.
// Private to this directory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tracer::bpf {

/// It may forget what is too much to be kept. A call without it shows addresses.
class EntryChunks {
 public:
  using Bytes = std::span<const std::byte>;

  /// A call of the function at `place` starts.
  void keep(pid_t tid, std::uint64_t stack_pointer, std::uint32_t place, Bytes chunks);
  /// Of the call that returns. They are valid until the thread's next call.
  Bytes take(pid_t tid, std::uint64_t stack_pointer, std::uint32_t place);

 private:
  struct Call {
    std::uint64_t stack_pointer = 0;
    std::uint32_t place = 0;
    std::vector<std::byte> chunks;
  };
  struct Thread {
    std::vector<Call> calls;  ///< the innermost last; those behind `depth` are over, and keep their room
    std::size_t depth = 0;
  };

  std::unordered_map<pid_t, Thread> threads_;
  std::size_t bytes_ = 0;  ///< what all of them take
};

}  // namespace tracer::bpf
