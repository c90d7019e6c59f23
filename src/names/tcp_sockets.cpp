#include "names/tcp_sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "proc/sock_diag.h"

namespace tracer::names {
namespace {

/// The most packets of an answer that are read; they hold some ten thousand sockets.
constexpr unsigned max_packets = 1024;

bool ask(int diag, TcpState state, bool is_v6, std::uint16_t port) {
  inet_diag_req_v2 request{};
  request.sdiag_family = is_v6 ? AF_INET6 : AF_INET;
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_states = 1U << static_cast<unsigned>(state);
  request.id.idiag_sport = htons(port);
  return proc::send_sock_diag_request(diag, request, NLM_F_DUMP);
}

trace::SocketEndpoint endpoint(const __be32 (&address)[4], __be16 port, bool is_v6) {
  trace::SocketEndpoint result;
  result.is_v6 = is_v6;
  std::memcpy(result.address.data(), address, is_v6 ? sizeof address : sizeof address[0]);
  result.port = ntohs(port);
  return result;
}

/// Searches one packet; sets `done` at the end of the whole answer.
std::optional<TcpSocket> find_in(std::span<const char> packet, std::uint32_t inode, bool& done) {
  while (packet.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, packet.data(), sizeof(header));
    if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > packet.size()) {
      break;
    }
    done = done || header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR;
    inet_diag_msg found{};
    if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY && header.nlmsg_len >= NLMSG_LENGTH(sizeof(found))) {
      std::memcpy(&found, packet.data() + NLMSG_HDRLEN, sizeof(found));
      if (found.idiag_inode == inode) {
        const bool is_v6 = found.idiag_family == AF_INET6;
        return TcpSocket{endpoint(found.id.idiag_src, found.id.idiag_sport, is_v6),
                         endpoint(found.id.idiag_dst, found.id.idiag_dport, is_v6)};
      }
    }
    packet = packet.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), packet.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<TcpSocket> find_tcp_socket(int diag, TcpState state, bool is_v6, std::uint16_t port,
                                         std::uint32_t inode) {
  if (!ask(diag, state, is_v6, port)) {
    return std::nullopt;
  }
  alignas(nlmsghdr) std::array<char, 16384> packet{};
  std::optional<TcpSocket> socket;
  bool done = false;
  // The answer is read to its end even if the socket is found: the rest would be taken for the next answer.
  for (unsigned i = 0; i < max_packets && !done; ++i) {
    const auto length = recv(diag, packet.data(), packet.size(), MSG_DONTWAIT);
    if (length <= 0) {
      break;
    }
    const auto found = find_in(std::span(packet).first(static_cast<std::size_t>(length)), inode, done);
    socket = socket ? socket : found;
  }
  return socket;
}

}  // namespace tracer::names
