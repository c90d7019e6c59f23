// Formats a socket: its protocol and its addresses.
#pragma once

#include <optional>
#include <string_view>

#include "base/text_buffer.h"
#include "format/escape.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

struct SocketKind {
  enum class Family : std::uint8_t { internet, local, netlink };
  Family family = Family::internet;
  std::string_view table;  ///< in /proc/PID/net; empty: the inode number is shown
  bool is_v6 = false;
};

/// Returns the kind of a protocol, which has the kernel's name; nothing for protocols that are not shown.
std::optional<SocketKind> socket_kind(std::string_view protocol);

/// Appends `TCP:[127.0.0.1:80->127.0.0.1:4711]`; false, with nothing appended, for sockets of other kinds.
bool append_socket(TextBuffer& text, const trace::SocketFacts& socket, format::HexStrings hex);

}  // namespace tracer::names
