#include "decode/socket_names.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/unix_sockets.h"
#include "decode/bound_sockets.h"
#include "spell/escape.h"

namespace tracer::decode {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The lines of a table under /proc/TID/net, one at a time.
template <typename Function>
bool any_line(std::int32_t tid, std::string_view table, Function function) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/net/%.*s", tid, static_cast<int>(table.size()), table.data());
  const File file(std::fopen(path.data(), "re"), [](std::FILE* f) { return std::fclose(f); });
  std::array<char, 512> line{};
  while (file != nullptr && std::fgets(line.data(), static_cast<int>(line.size()), file.get()) != nullptr) {
    if (function(std::string_view(line.data()))) {
      return true;
    }
  }
  return false;
}

/// The n-th word of a line, from 0 on; empty past the end.
std::string_view word(std::string_view line, unsigned n) {
  for (;; --n) {
    const auto start = line.find_first_not_of(" \t\n");
    if (start == std::string_view::npos) {
      return {};
    }
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_of(" \t\n"), line.size());
    if (n == 0) {
      return line.substr(0, end);
    }
    line.remove_prefix(end);
  }
}

std::uint32_t hex(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

/// An address as these tables have it: 32-bit words of the network's bytes as the machine reads them, and a port.
struct Endpoint {
  std::array<std::uint32_t, 4> words{};
  std::uint32_t port = 0;

  explicit Endpoint(const LocalAddress& address) : words(address.words), port(address.port) {}
  Endpoint(std::string_view text, bool is_v6) {
    for (std::size_t i = 0; i < (is_v6 ? 4U : 1U); ++i) {
      words[i] = hex(text.substr(std::min(8 * i, text.size()), 8));
    }
    port = hex(text.substr(std::min(text.find(':'), text.size() - 1) + 1));
  }

  void append(TextBuffer& out, bool is_v6) const {
    std::array<char, INET6_ADDRSTRLEN> name{};
    inet_ntop(is_v6 ? AF_INET6 : AF_INET, words.data(), name.data(), name.size());
    out.append(is_v6 ? "[" : "");
    out.append(std::string_view(name.data()));
    out.append(is_v6 ? "]:" : ":");
    out.decimal(std::uint64_t{port});
  }
};

/// `TCP`, `NETLINK`: the kernel tells it as an attribute of a socket's inode. Empty: no socket.
struct ProtocolName {
  std::array<char, 32> text{};
  [[nodiscard]] std::string_view view() const { return text.data(); }
};

ProtocolName protocol_name(std::int32_t tid, std::int32_t fd) {
  std::array<char, 64> path{};
  ProtocolName name;
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", tid, fd);
  if (getxattr(path.data(), "system.sockprotoname", name.text.data(), name.text.size() - 1) <= 0) {
    return {};
  }
  return name;
}

std::string_view netlink_family(std::uint64_t number) {
  static constexpr std::array<std::string_view, 23> names = {
      "ROUTE",   "UNUSED", "USERSOCK",      "FIREWALL",  "SOCK_DIAG", "NFLOG",  "XFRM",    "SELINUX",
      "ISCSI",   "AUDIT",  "FIB_LOOKUP",    "CONNECTOR", "NETFILTER", "IP6_FW", "DNRTMSG", "KOBJECT_UEVENT",
      "GENERIC", "DM",     "SCSITRANSPORT", "ECRYPTFS",  "RDMA",      "CRYPTO", "SMC"};
  return number < names.size() ? names[number] : std::string_view{};
}

}  // namespace

bool SocketNames::append(TextBuffer& text, std::int32_t tid, std::int32_t fd, std::string_view inode) {
  const auto name = protocol_name(tid, fd);
  const auto protocol = name.view();
  if (protocol.empty()) {
    return false;
  }
  struct Known {
    std::string_view protocol;
    std::string_view table;  ///< empty: shown by its inode
    bool is_v6 = false;
  };
  static constexpr std::array<Known, 9> inet_protocols = {{{"TCP", "tcp", false},
                                                           {"TCPv6", "tcp6", true},
                                                           {"UDP", "udp", false},
                                                           {"UDPv6", "udp6", true},
                                                           {"UDP-Lite", "udplite", false},
                                                           {"UDPLITEv6", "udplite6", true},
                                                           {"RAW", "", false},
                                                           {"RAWv6", "", true},
                                                           {"PING", "", false}}};
  const auto start = text.size();
  const auto known = std::find_if(inet_protocols.begin(), inet_protocols.end(),
                                  [&](const Known& k) { return k.protocol == protocol; });
  const bool is_unix = protocol.substr(0, 4) == "UNIX";
  if (known == inet_protocols.end() && !is_unix && protocol != "NETLINK") {
    return false;
  }
  spell::append_escaped(text, std::as_bytes(std::span(protocol)), "<>");
  text.append(":[");
  const auto content = text.size();
  bool found = false;
  std::uint32_t number = 0;
  std::from_chars(inode.data(), inode.data() + inode.size(), number);
  if (is_unix) {
    found = unix_socket(text, number);
  } else if (known != inet_protocols.end()) {
    const bool is_tcp = known->table.substr(0, 3) == "tcp";
    found = (!known->table.empty() && inet(text, tid, known->table, inode, known->is_v6)) ||
            (is_tcp && bound(text, number, known->is_v6));
  } else {
    found = netlink(text, tid, inode);
  }
  if (!found) {
    text.truncate(content);
    text.append(inode);
  }
  text.append(']');
  return text.size() > start;
}

/// No protocol has this number: it stands for a netlink socket whose protocol cannot be told.
constexpr std::int32_t some_netlink_protocol = 255;

std::int32_t SocketNames::netlink_protocol(std::int32_t tid, std::int32_t fd, std::string_view inode) {
  std::uint32_t number = 0;
  std::from_chars(inode.data(), inode.data() + inode.size(), number);
  Known& known = known_[number % known_.size()];
  if (known.inode == number && number != 0) {
    return known.protocol;
  }
  known = {number, -1};
  if (protocol_name(tid, fd).view() == "NETLINK") {
    // A socket is in the kernel's list as soon as it has an address; until then it is not known for good.
    const bool listed = any_line(tid, "netlink", [&](std::string_view line) {
      const auto digits = word(line, 1);
      return word(line, 9) == inode &&
             std::from_chars(digits.data(), digits.data() + digits.size(), known.protocol).ec == std::errc{};
    });
    if (!listed) {
      known = {};
      return some_netlink_protocol;
    }
  }
  return known.protocol;
}

bool SocketNames::inet(TextBuffer& text, std::int32_t tid, std::string_view table, std::string_view inode, bool is_v6) {
  return any_line(tid, table, [&](std::string_view line) {
    if (word(line, 9) != inode) {
      return false;
    }
    const Endpoint local(word(line, 1), is_v6);
    const Endpoint remote(word(line, 2), is_v6);
    local.append(text, is_v6);
    if (remote.port != 0) {
      text.append("->");
      remote.append(text, is_v6);
    }
    return true;
  });
}

bool SocketNames::netlink(TextBuffer& text, std::int32_t tid, std::string_view inode) {
  return any_line(tid, "netlink", [&](std::string_view line) {
    if (word(line, 9) != inode || word(line, 2) == "0") {
      return false;
    }
    std::uint64_t family = 0;
    const auto digits = word(line, 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), family);
    const auto name = netlink_family(family);
    name.empty() ? text.decimal(family) : text.append(name);
    text.append(':');
    text.append(word(line, 2));
    return true;
  });
}

bool SocketNames::bound(TextBuffer& text, std::uint32_t inode, bool is_v6) {
  const auto address = find_bound_socket(diag(), is_v6, inode);
  if (address) {
    Endpoint(*address).append(text, is_v6);
  }
  return address.has_value();
}

int SocketNames::diag() {
  if (!diag_.valid()) {
    diag_ = open_sock_diag();
  }
  return diag_.get();
}

bool SocketNames::unix_socket(TextBuffer& text, std::uint32_t inode) {
  const auto known = find_unix_socket(diag(), inode);
  if (!known) {
    return false;
  }
  text.decimal(std::uint64_t{inode});
  if (known->peer != 0) {
    text.append("->");
    text.decimal(std::uint64_t{known->peer});
  }
  if (std::string_view path = known->name; !path.empty()) {
    const bool is_abstract = path.front() == '\0';
    path.remove_prefix(is_abstract ? 1 : 0);
    // Programs often give the whole of sun_path for the length of an abstract name.
    path = is_abstract ? path.substr(0, path.find_last_not_of('\0') + 1) : path.substr(0, path.find('\0'));
    text.append(is_abstract ? ",@\"" : ",\"");
    spell::append_escaped(text, std::as_bytes(std::span(path)), "<>");
    text.append('"');
  }
  return true;
}

}  // namespace tracer::decode
