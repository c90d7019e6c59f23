// TCP sockets that have an address and are neither connected nor listening: /proc/net does not list them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tracer::names {

struct LocalAddress {
  std::array<std::uint32_t, 4> words{};  ///< the network's bytes, four of them for IPv4
  std::uint16_t port = 0;                ///< in the order of the host
};

/// Asks sock_diag(7) of our own network namespace over `diag`, a NETLINK_SOCK_DIAG socket. Nothing: there is no such
/// socket, or the kernel (before 6.8) does not tell.
std::optional<LocalAddress> find_bound_socket(int diag, bool is_v6, std::uint32_t inode);

}  // namespace tracer::names
