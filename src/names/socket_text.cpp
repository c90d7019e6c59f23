#include "names/socket_text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "names/descriptor_text.h"

namespace tracer::names {
namespace {

using Family = SocketKind::Family;

std::string_view netlink_family(std::uint64_t number) {
  static constexpr std::array<std::string_view, 23> names = {
      "ROUTE",   "UNUSED", "USERSOCK",      "FIREWALL",  "SOCK_DIAG", "NFLOG",  "XFRM",    "SELINUX",
      "ISCSI",   "AUDIT",  "FIB_LOOKUP",    "CONNECTOR", "NETFILTER", "IP6_FW", "DNRTMSG", "KOBJECT_UEVENT",
      "GENERIC", "DM",     "SCSITRANSPORT", "ECRYPTFS",  "RDMA",      "CRYPTO", "SMC"};
  return number < names.size() ? names[number] : std::string_view{};
}

void append_endpoint(TextBuffer& text, const trace::SocketEndpoint& endpoint) {
  std::array<char, INET6_ADDRSTRLEN> name{};
  inet_ntop(endpoint.is_v6 ? AF_INET6 : AF_INET, endpoint.address.data(), name.data(), name.size());
  text.append(endpoint.is_v6 ? "[" : "");
  text.append(std::string_view(name.data()));
  text.append(endpoint.is_v6 ? "]:" : ":");
  text.decimal(std::uint64_t{endpoint.port});
}

void append_local(TextBuffer& text, const trace::SocketFacts& socket, format::HexStrings hex) {
  text.decimal(socket.inode);
  if (socket.peer != 0) {
    text.append("->");
    text.decimal(socket.peer);
  }
  if (std::string_view path = socket.name; !path.empty()) {
    const bool is_abstract = path.front() == '\0';
    path.remove_prefix(is_abstract ? 1 : 0);
    // An abstract name may go on behind a NUL. Programs often pass the size of sun_path as its length.
    path = path.substr(0, path.find('\0'));
    text.append(is_abstract ? ",@\"" : ",\"");
    format::append_string(text, std::as_bytes(std::span(path)), hex);  // the text is between quotation marks
    text.append('"');
  }
}

void append_netlink(TextBuffer& text, const trace::SocketFacts& socket) {
  if (socket.port_id == 0) {
    text.decimal(socket.inode);
    return;
  }
  const auto name = netlink_family(socket.netlink_family);
  name.empty() ? text.decimal(std::uint64_t{socket.netlink_family}) : text.append(name);
  text.append(':');
  text.decimal(std::uint64_t{socket.port_id});
}

void append_internet(TextBuffer& text, const trace::SocketFacts& socket, const SocketKind& kind) {
  if (!socket.local || kind.table.empty()) {
    text.decimal(socket.inode);
    return;
  }
  append_endpoint(text, *socket.local);
  if (socket.remote) {
    text.append("->");
    append_endpoint(text, *socket.remote);
  }
}

}  // namespace

std::optional<SocketKind> socket_kind(std::string_view protocol) {
  struct Named {
    std::string_view protocol;
    SocketKind kind;
  };
  static constexpr std::array<Named, 9> kinds = {{{"TCP", {Family::internet, "tcp", false}},
                                                  {"TCPv6", {Family::internet, "tcp6", true}},
                                                  {"UDP", {Family::internet, "udp", false}},
                                                  {"UDPv6", {Family::internet, "udp6", true}},
                                                  {"UDPLITEv6", {Family::internet, "udplite6", true}},
                                                  {"RAW", {Family::internet, "", false}},
                                                  {"RAWv6", {Family::internet, "", true}},
                                                  {"PING", {Family::internet, "", false}},
                                                  {"NETLINK", {Family::netlink, "", false}}}};
  const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Named& k) { return k.protocol == protocol; });
  if (known != kinds.end()) {
    return known->kind;
  }
  return protocol.substr(0, 4) == "UNIX" ? std::optional(SocketKind{Family::local, {}, false}) : std::nullopt;
}

bool append_socket(TextBuffer& text, const trace::SocketFacts& socket, format::HexStrings hex) {
  const auto kind = socket_kind(socket.protocol);
  if (!kind) {
    return false;
  }
  format::append_escaped(text, std::as_bytes(std::span(socket.protocol)), "<>");
  text.append(":[");
  switch (kind->family) {
    case Family::local:
      append_local(text, socket, hex);
      break;
    case Family::netlink:
      append_netlink(text, socket);
      break;
    case Family::internet:
      append_internet(text, socket, *kind);
      break;
  }
  text.append(']');
  return true;
}

}  // namespace tracer::names
