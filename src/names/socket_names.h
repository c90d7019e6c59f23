// Sockets by their inode: protocol and addresses, as the tracee's network namespace has them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/unique_fd.h"
#include "trace/capture.h"

namespace tracer::names {

class SocketNames {
 public:
  /// Protocol and inode, and what else append_socket() shows of sockets of this protocol.
  [[nodiscard]] trace::SocketFacts facts(std::int32_t tid, std::int32_t fd, std::string_view inode);
  /// The protocol of a netlink socket, -1 for any other socket.
  std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd, std::string_view inode);

 private:
  // Add what they find.
  bool inet(trace::SocketFacts& facts, std::int32_t tid, std::string_view table, std::string_view inode, bool is_v6);
  void netlink(trace::SocketFacts& facts, std::int32_t tid, std::string_view inode);
  void bound(trace::SocketFacts& facts, bool is_v6);
  void unix_socket(trace::SocketFacts& facts);
  /// The socket to ask sock_diag(7) over; opened at the first question.
  int diag();

  /// What a socket is, by its inode, which no other socket has while it lives and for long after.
  struct Known {
    std::uint32_t inode = 0;
    std::int32_t protocol = -1;
  };
  std::array<Known, 64> known_{};
  UniqueFd diag_;
};

}  // namespace tracer::names
