// Requests to the kernel about its sockets (sock_diag(7)).
#pragma once

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace tracer::proc {

/// Opens a netlink socket for requests about the sockets of the caller's network namespace; invalid if the kernel does
/// not support it.
[[nodiscard]] inline UniqueFd open_sock_diag() {
  return UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
}

/// Sends `request`, such as a unix_diag_req, with `flags` in addition to NLM_F_REQUEST. Returns false if send(2) fails.
template <typename Request>
[[nodiscard]] bool send_sock_diag_request(int diag, const Request& request, unsigned flags = 0) {
  struct {
    nlmsghdr header;
    Request request;
  } query{{}, request};
  query.header.nlmsg_len = sizeof query;
  query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  query.header.nlmsg_flags = static_cast<__u16>(NLM_F_REQUEST | flags);
  return ::send(diag, &query, sizeof query, 0) == static_cast<ssize_t>(sizeof query);
}

}  // namespace tracer::proc
