// Finds TCP sockets that are bound and neither connected nor listening: /proc/net does not list them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tracer::names {

struct LocalAddress {
  std::array<std::uint32_t, 4> words{};  ///< in network byte order; IPv4 uses the first word
  std::uint16_t port = 0;                ///< in host byte order
};

/// Asks sock_diag(7) in the tracer's network namespace over `diag`, a NETLINK_SOCK_DIAG socket. Returns nothing if
/// there is no such socket, or if the kernel is older than 6.8.
std::optional<LocalAddress> find_bound_socket(int diag, bool is_v6, std::uint32_t inode);

}  // namespace tracer::names
