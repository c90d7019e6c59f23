// Unix sockets by their inode, as the kernel tells of them (sock_diag(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::proc {

struct UnixSocket {
  std::uint32_t peer = 0;  ///< the inode at its other end; 0: none
  std::string name;        ///< as its owner bound it: all bytes, the first of them zero for an abstract one
};

/// A socket of the network namespace in which `diag` was opened (open_sock_diag()); nothing if none has that inode.
[[nodiscard]] std::optional<UnixSocket> find_unix_socket(int diag, std::uint32_t inode);

}  // namespace tracer::proc
