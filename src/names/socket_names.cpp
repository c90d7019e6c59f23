#include "names/socket_names.h"

#include <fmt/core.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "base/number_text.h"
#include "names/socket_text.h"
#include "names/tcp_sockets.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"
#include "proc/sock_diag.h"
#include "proc/unix_sockets.h"

namespace tracer::names {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Returns the n-th word of a line, counted from 0; empty past the end.
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
  return number_at<std::uint32_t>(digits, 16).value_or(0);
}

/// Parses an address of these tables: 32-bit words in network byte order, printed as integers of the host, and a port.
trace::SocketEndpoint endpoint(std::string_view text, bool is_v6) {
  trace::SocketEndpoint result;
  result.is_v6 = is_v6;
  for (std::size_t i = 0; i < (is_v6 ? 4U : 1U); ++i) {
    const std::uint32_t word = hex(text.substr(std::min(8 * i, text.size()), 8));
    std::memcpy(result.address.data() + i * sizeof word, &word, sizeof word);
  }
  result.port = static_cast<std::uint16_t>(hex(text.substr(std::min(text.find(':'), text.size() - 1) + 1)));
  return result;
}

/// `TCP`, `NETLINK`: an extended attribute of the inode of a socket. Empty: not a socket.
struct ProtocolName {
  std::array<char, 32> text{};
  [[nodiscard]] std::string_view view() const { return text.data(); }
};

ProtocolName protocol_name(std::int32_t tid, std::int32_t fd) {
  ProtocolName name;
  if (getxattr(proc::descriptor_path(tid, fd).c_str(), "system.sockprotoname", name.text.data(),
               name.text.size() - 1) <= 0) {
    return {};
  }
  return name;
}

}  // namespace

/// Calls `function` with the lines of a table under /proc/TID/net until it returns true.
template <typename Function>
bool SocketNames::any_line(std::int32_t tid, std::string_view table, const Function& function) {
  return searches_.spend_on([&] {
    const std::string path = proc::proc_path(tid, fmt::format("net/{}", table));
    const File file(std::fopen(path.c_str(), "re"), [](std::FILE* f) { return std::fclose(f); });
    std::array<char, 512> line{};
    while (file != nullptr && std::fgets(line.data(), static_cast<int>(line.size()), file.get()) != nullptr) {
      if (function(std::string_view(line.data()))) {
        return true;
      }
    }
    return false;
  });
}

std::string SocketNames::protocol(std::int32_t tid, std::int32_t fd) {
  return std::string(protocol_name(tid, fd).view());
}

trace::SocketFacts SocketNames::facts(std::int32_t tid, std::int32_t fd, std::string_view inode) {
  trace::SocketFacts facts;
  facts.protocol = protocol_name(tid, fd).view();
  std::from_chars(inode.data(), inode.data() + inode.size(), facts.inode);
  const std::optional<SocketKind> kind = socket_kind(facts.protocol);
  if (!kind) {
    return facts;
  }
  switch (kind->family) {
    case SocketKind::Family::local:
      unix_socket(facts);
      break;
    case SocketKind::Family::internet:
      if (kind->table.empty() || ask(facts, tid, fd, kind->table.starts_with("tcp"))) {
        break;
      }
      if (!inet(facts, tid, kind->table, inode, kind->is_v6) && kind->table.starts_with("tcp")) {
        find_tcp(facts, TcpState::bound, kind->is_v6, 0);
      }
      break;
    case SocketKind::Family::netlink:
      netlink(facts, tid, fd, inode);
      break;
  }
  return facts;
}

/// Stands for a netlink socket whose protocol is unknown; no protocol has this number.
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
    // A socket says nothing until it is bound; until then the result is not cached.
    trace::SocketFacts facts;
    facts.inode = number;
    if (!netlink(facts, tid, fd, inode)) {
      known = {};
      return some_netlink_protocol;
    }
    known.protocol = static_cast<std::int32_t>(facts.netlink_family);
  }
  return known.protocol;
}

namespace {

/// Returns an address as the kernel's tables have it; empty without a port.
std::optional<trace::SocketEndpoint> endpoint(const sockaddr_storage& address) {
  trace::SocketEndpoint result;
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof in);
    result.is_v6 = true;
    std::memcpy(result.address.data(), &in.sin6_addr, sizeof in.sin6_addr);
    result.port = ntohs(in.sin6_port);
  } else if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    std::memcpy(result.address.data(), &in.sin_addr, sizeof in.sin_addr);
    result.port = ntohs(in.sin_port);
  }
  return result.port != 0 ? std::optional(result) : std::nullopt;
}

using AddressGetter = int (*)(int, sockaddr*, socklen_t*);

std::optional<trace::SocketEndpoint> endpoint_by(AddressGetter getter, const UniqueFd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return getter(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0 ? endpoint(address) : std::nullopt;
}

}  // namespace

int SocketNames::process_of(std::int32_t tid) {
  if (process_tid_ != tid) {
    process_tid_ = tid;
    process_ = proc::open_task(tid);
  }
  return process_.get();
}

UniqueFd SocketNames::duplicate(std::int32_t tid, std::int32_t fd, std::uint64_t inode) {
  UniqueFd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, process_of(tid), fd, 0)));
  struct ::stat status {};
  // The thread may have descriptors of its own, or another thread has closed this one, or its id is another process's.
  if (!socket.valid() || ::fstat(socket.get(), &status) != 0 || status.st_ino != inode) {
    process_tid_ = 0;
    return UniqueFd{};
  }
  return socket;
}

bool SocketNames::ask(trace::SocketFacts& facts, std::int32_t tid, std::int32_t fd, bool is_tcp) {
  const UniqueFd socket = duplicate(tid, fd, facts.inode);
  if (!socket.valid()) {
    return false;
  }
  const auto local = endpoint_by(::getsockname, socket);
  // The tables have no closed sockets, but the peers of those that connect, of which the socket does not speak.
  tcp_info state{};
  socklen_t size = sizeof state;
  if (is_tcp && ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &state, &size) != 0) {
    return false;
  }
  if (is_tcp && state.tcpi_state == TCP_SYN_SENT) {
    return local && find_tcp(facts, TcpState::connecting, local->is_v6, local->port);
  }
  if (is_tcp && state.tcpi_state == TCP_CLOSE) {
    if (local) {
      find_tcp(facts, TcpState::bound, local->is_v6, local->port);
    }
    return true;
  }
  facts.local = local;
  facts.remote = local ? endpoint_by(::getpeername, socket) : std::nullopt;
  return true;
}

bool SocketNames::inet(trace::SocketFacts& facts, std::int32_t tid, std::string_view table, std::string_view inode,
                       bool is_v6) {
  return any_line(tid, table, [&](std::string_view line) {
    if (word(line, 9) != inode) {
      return false;
    }
    facts.local = endpoint(word(line, 1), is_v6);
    const auto remote = endpoint(word(line, 2), is_v6);
    if (remote.port != 0) {
      facts.remote = remote;
    }
    return true;
  });
}

bool SocketNames::netlink(trace::SocketFacts& facts, std::int32_t tid, std::int32_t fd, std::string_view inode) {
  if (const UniqueFd socket = duplicate(tid, fd, facts.inode); socket.valid()) {
    sockaddr_nl address{};
    socklen_t size = sizeof address;
    socklen_t number_size = sizeof facts.netlink_family;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.nl_pid != 0 &&
        ::getsockopt(socket.get(), SOL_SOCKET, SO_PROTOCOL, &facts.netlink_family, &number_size) == 0) {
      facts.port_id = address.nl_pid;
    }
    return facts.port_id != 0;
  }
  return any_line(tid, "netlink", [&](std::string_view line) {
    if (word(line, 9) != inode) {
      return false;
    }
    const auto family = word(line, 1);
    const auto port = word(line, 2);
    std::from_chars(family.data(), family.data() + family.size(), facts.netlink_family);
    std::from_chars(port.data(), port.data() + port.size(), facts.port_id);
    return facts.port_id != 0;
  });
}

bool SocketNames::find_tcp(trace::SocketFacts& facts, TcpState state, bool is_v6, std::uint16_t port) {
  const auto found = searches_.spend_on(
      [&] { return find_tcp_socket(diag(), state, is_v6, port, static_cast<std::uint32_t>(facts.inode)); });
  if (found) {
    facts.local = found->local;
    facts.remote = found->remote.port != 0 ? std::optional(found->remote) : std::nullopt;
  }
  return found.has_value();
}

int SocketNames::diag() {
  if (!diag_.valid()) {
    diag_ = proc::open_sock_diag();
  }
  return diag_.get();
}

void SocketNames::unix_socket(trace::SocketFacts& facts) {
  if (const auto known = proc::find_unix_socket(diag(), static_cast<std::uint32_t>(facts.inode))) {
    facts.peer = known->peer;
    facts.name = known->name;
  }
}

}  // namespace tracer::names
