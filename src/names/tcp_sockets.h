// Asks the kernel for a TCP socket whose file does not say all of it.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/task_snapshot.h"

namespace tracer::names {

struct TcpSocket {
  trace::SocketEndpoint local;
  trace::SocketEndpoint remote;  ///< its port is 0 if there is none
};

enum class TcpState : std::uint8_t {
  connecting = 2,  ///< getpeername(2) does not yet say where to
  bound = 13,      ///< neither connected nor listening; /proc/net does not list these, nor kernels before 6.8
};

/// Asks sock_diag(7) in the tracer's network namespace over `diag`, a NETLINK_SOCK_DIAG socket, for the socket of this
/// inode, which has this port of its own. Returns nothing if there is no such socket.
std::optional<TcpSocket> find_tcp_socket(int diag, TcpState state, bool is_v6, std::uint16_t port, std::uint32_t inode);

}  // namespace tracer::names
