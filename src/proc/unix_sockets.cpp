#include "proc/unix_sockets.h"

#include <linux/unix_diag.h>

#include <array>
#include <cstring>
#include <string_view>

#include "proc/sock_diag.h"

namespace tracer::proc {

std::optional<UnixSocket> find_unix_socket(int diag, std::uint32_t inode) {
  unix_diag_req request{};
  request.sdiag_family = AF_UNIX;
  request.udiag_ino = inode;
  request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER;
  request.udiag_cookie[0] = ~std::uint32_t{0};
  request.udiag_cookie[1] = ~std::uint32_t{0};
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  if (!send_sock_diag_request(diag, request)) {
    return std::nullopt;
  }
  const auto length = ::recv(diag, answer.data(), answer.size(), MSG_DONTWAIT);
  nlmsghdr header{};
  if (length < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(unix_diag_msg)))) {
    return std::nullopt;
  }
  std::memcpy(&header, answer.data(), sizeof(header));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len > static_cast<std::size_t>(length)) {
    return std::nullopt;
  }
  UnixSocket found;
  for (std::size_t at = NLMSG_LENGTH(sizeof(unix_diag_msg)); at + sizeof(nlattr) <= header.nlmsg_len;) {
    nlattr attribute{};
    std::memcpy(&attribute, answer.data() + at, sizeof(attribute));
    if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > header.nlmsg_len - at) {
      break;
    }
    const std::string_view payload(answer.data() + at + sizeof(attribute), attribute.nla_len - sizeof(attribute));
    if (attribute.nla_type == UNIX_DIAG_NAME) {
      found.name = payload;
    } else if (attribute.nla_type == UNIX_DIAG_PEER && payload.size() >= sizeof(found.peer)) {
      std::memcpy(&found.peer, payload.data(), sizeof(found.peer));
    }
    at += NLMSG_ALIGN(attribute.nla_len);
  }
  return found;
}

}  // namespace tracer::proc
