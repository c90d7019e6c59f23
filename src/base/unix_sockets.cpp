#include "base/unix_sockets.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string_view>

namespace tracer {

UniqueFd open_sock_diag() {
  return UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
}

std::optional<UnixSocket> find_unix_socket(int diag, std::uint32_t inode) {
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } query{};
  query.header.nlmsg_len = sizeof(query);
  query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  query.header.nlmsg_flags = NLM_F_REQUEST;
  query.request.sdiag_family = AF_UNIX;
  query.request.udiag_ino = inode;
  query.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER;
  query.request.udiag_cookie[0] = ~std::uint32_t{0};
  query.request.udiag_cookie[1] = ~std::uint32_t{0};
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  if (::send(diag, &query, sizeof(query), 0) != static_cast<ssize_t>(sizeof(query))) {
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

}  // namespace tracer
