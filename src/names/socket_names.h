// Finds protocol and addresses of a socket by its inode number, in the network namespace of the tracee.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/unique_fd.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

class SocketNames {
 public:
  /// Returns protocol and inode, and what else append_socket() shows of sockets of this protocol.
  [[nodiscard]] trace::SocketFacts facts(std::int32_t tid, std::int32_t fd, std::string_view inode);
  /// Returns the protocol of a netlink socket, -1 for any other socket.
  /// Returns the kernel's name of a socket's protocol.
  [[nodiscard]] static std::string protocol(std::int32_t tid, std::int32_t fd);
  std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd, std::string_view inode);

 private:
  // These add what they find to `facts`.
  bool inet(trace::SocketFacts& facts, std::int32_t tid, std::string_view table, std::string_view inode, bool is_v6);
  /// Asks the socket itself, through a descriptor of our own (pidfd_getfd(2)). Returns false if it does not say what
  /// the tables under /proc/TID/net would: those are read whole, for a single socket.
  bool ask(trace::SocketFacts& facts, std::int32_t tid, std::int32_t fd, bool is_tcp);
  /// Returns a pidfd of the thread's process; -1 if there is none.
  int process_of(std::int32_t tid);
  void netlink(trace::SocketFacts& facts, std::int32_t tid, std::string_view inode);
  void bound(trace::SocketFacts& facts, bool is_v6);
  void unix_socket(trace::SocketFacts& facts);
  /// Returns the socket for sock_diag(7); the first call opens it.
  int diag();

  /// A cached protocol. Inode numbers of sockets are not reused for a long time.
  struct Known {
    std::uint32_t inode = 0;
    std::int32_t protocol = -1;
  };
  std::array<Known, 64> known_{};
  UniqueFd diag_;
  std::int32_t process_tid_ = 0;  ///< a thread of the process of `process_`
  UniqueFd process_;              ///< a pidfd
};

}  // namespace tracer::names
