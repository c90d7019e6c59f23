// Finds Unix sockets by their inode number (sock_diag(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::proc {

struct UnixSocket {
  std::uint32_t peer = 0;  ///< inode number of the socket that it is connected to; 0 if there is none
  std::string name;        ///< the address it is bound to; an abstract one starts with a null byte
};

/// Finds a socket in the network namespace of `diag` (open_sock_diag()); empty if none has this inode number.
[[nodiscard]] std::optional<UnixSocket> find_unix_socket(int diag, std::uint32_t inode);

}  // namespace tracer::proc
