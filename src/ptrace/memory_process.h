// Reads memory in a process of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/unique_fd.h"

namespace tracer::ptrace {

/// process_vm_readv(2). Empty if it does not work here.
std::optional<std::size_t> read_remote(pid_t tid, std::uint64_t address, std::span<std::byte> into);

/// Who owns a process can map a file of a FUSE server that never answers. The kernel lets nobody go who reads that
/// memory, not even by SIGKILL. Neither the tracer nor one of its threads may do that: the tracees would stay with it,
/// and whoever waits for its end would wait. It takes several times as long as read_remote().
class MemoryProcess {
 public:
  /// Whether there may be a FUSE server on this machine, whose file somebody could have mapped.
  bool is_needed();
  /// The same as read_remote(). Empty also if there can be no process. Returns `hangs` if it takes too long.
  std::optional<std::size_t> read(pid_t tid, std::uint64_t address, std::span<std::byte> into);
  static constexpr auto hangs = static_cast<std::size_t>(-1);

 private:
  [[nodiscard]] bool start();

  UniqueFd socket_;          ///< of the process; invalid: there is none
  UniqueFd connections_;     ///< the root directory of fusectl
  bool is_unknown_ = false;  ///< that directory cannot be had
  unsigned abandoned_ = 0;   ///< how many hang until their server answers or is gone
};

}  // namespace tracer::ptrace
