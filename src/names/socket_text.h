// How a socket is written: its protocol and its ends.
#pragma once

#include <optional>
#include <string_view>

#include "base/text_buffer.h"
#include "trace/capture.h"

namespace tracer::names {

struct SocketKind {
  enum class Family : std::uint8_t { internet, local, netlink };
  Family family = Family::internet;
  std::string_view table;  ///< in /proc/PID/net; empty: shown by its inode
  bool is_v6 = false;
};

/// By the kernel's word for the protocol; nothing: others have no text.
std::optional<SocketKind> socket_kind(std::string_view protocol);

/// Appends `TCP:[127.0.0.1:80->127.0.0.1:4711]`; false, with nothing appended, for sockets of other kinds.
bool append_socket(TextBuffer& text, const trace::SocketFacts& socket);

}  // namespace tracer::names
