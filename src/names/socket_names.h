// Finds protocol and addresses of a socket by its inode number, in the network namespace of the tracee.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time_share.h"
#include "base/unique_fd.h"
#include "names/tcp_sockets.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

class SocketNames {
 public:
  /// Returns protocol and inode, and what else append_socket() shows of sockets of this protocol.
  [[nodiscard]] trace::SocketFacts facts(std::int32_t tid, std::int32_t fd, std::string_view inode);
  /// Returns the kernel's name of a socket's protocol.
  [[nodiscard]] static std::string protocol(std::int32_t tid, std::int32_t fd);
  /// Returns the protocol of a netlink socket, -1 for any other socket.
  std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd, std::string_view inode);

 private:
  template <typename Function>
  bool any_line(std::int32_t tid, std::string_view table, const Function& function);

  // These add what they find to `facts`.
  bool inet(trace::SocketFacts& facts, std::int32_t tid, std::string_view table, std::string_view inode, bool is_v6);
  /// Returns a descriptor of our own for the thread's socket (pidfd_getfd(2)), which can be asked; invalid if the
  /// kernel gives none, or one of another socket. The tables under /proc/TID/net would be read whole for a single
  /// socket.
  UniqueFd duplicate(std::int32_t tid, std::int32_t fd, std::uint64_t inode);
  /// Asks the socket itself. Returns false if it does not say what the tables would.
  bool ask(trace::SocketFacts& facts, std::int32_t tid, std::int32_t fd, bool is_tcp);
  /// Returns a pidfd of the thread's process; -1 if there is none.
  int process_of(std::int32_t tid);
  /// Returns false if the socket is not bound.
  bool netlink(trace::SocketFacts& facts, std::int32_t tid, std::int32_t fd, std::string_view inode);
  /// Returns false if the network namespace of the tracer has no such socket. Port 0: any port.
  bool find_tcp(trace::SocketFacts& facts, TcpState state, bool is_v6, std::uint16_t port);
  void unix_socket(trace::SocketFacts& facts);
  /// Returns the socket for sock_diag(7); the first call opens it.
  int diag();

  /// A cached protocol. Inode numbers of sockets are not reused for a long time.
  struct Known {
    std::uint32_t inode = 0;
    std::int32_t protocol = -1;
  };
  std::array<Known, 64> known_{};
  TimeShare searches_;  ///< among all sockets: tracees wait for them, and other people make these sockets
  UniqueFd diag_;
  std::int32_t process_tid_ = 0;  ///< a thread of the process of `process_`
  UniqueFd process_;              ///< a pidfd
};

}  // namespace tracer::names
