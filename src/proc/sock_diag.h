// Questions to the kernel about its sockets (sock_diag(7)).
#pragma once

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace tracer::proc {

/// A socket to ask over, about those of the caller's network namespace; invalid where the kernel has none to give.
[[nodiscard]] inline UniqueFd open_sock_diag() {
  return UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
}

/// Asks what `request` says, such as a unix_diag_req; `flags` beside NLM_F_REQUEST. False: not even asked.
template <typename Request>
[[nodiscard]] bool ask_sock_diag(int diag, const Request& request, unsigned flags = 0) {
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
