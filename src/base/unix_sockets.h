// Unix sockets by their inode, as the kernel tells of them (sock_diag(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace tracer {

/// A socket to ask for others; invalid where the kernel has none to give.
[[nodiscard]] UniqueFd open_sock_diag();

struct UnixSocket {
  std::uint32_t peer = 0;  ///< the inode at its other end; 0: none
  std::string name;        ///< as its owner bound it: all bytes, the first of them zero for an abstract one
};

/// A socket of the network namespace in which `diag` was opened; nothing if there is none of that inode.
[[nodiscard]] std::optional<UnixSocket> find_unix_socket(int diag, std::uint32_t inode);

}  // namespace tracer
