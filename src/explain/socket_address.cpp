#include "explain/socket_address.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tracer::explain {

namespace {

std::string between(const std::string& text, char open, char close) {
  const std::size_t from = text.find(open);
  const std::size_t to = text.rfind(close);
  return from == std::string::npos || to == std::string::npos || to <= from ? std::string()
                                                                            : text.substr(from + 1, to - from - 1);
}

}  // namespace

std::string Peer::name() const {
  return !path.empty() ? path
                       : fmt::format("{}:{}", host.find(':') == std::string::npos ? host : '[' + host + ']', port);
}

Peer peer_of(const Call& call) {
  Peer peer;
  for (const Argument& argument : call.args) {
    const Value& address = argument.value;
    if (address.kind != Value::Kind::object) {
      continue;
    }
    for (const Member& member : address.members) {
      const std::string text = to_text(member.value);
      if (member.name == "sin_port" || member.name == "sin6_port") {
        peer.port = static_cast<unsigned>(std::atoi(between(text, '(', ')').c_str()));
      } else if (member.name == "sin_addr" || member.name == "sin6_addr") {
        peer.host = text;
        const std::size_t quote = text.find('"');
        if (quote != std::string::npos) {
          peer.host = text.substr(quote + 1, text.find('"', quote + 1) - quote - 1);
        }
        // Java uses IPv6 sockets for IPv4, too.
        constexpr std::string_view mapped = "::ffff:";
        if (peer.host.starts_with(mapped) && peer.host.find('.') != std::string::npos) {
          peer.host.erase(0, mapped.size());
        }
      } else if (member.name == "sun_path") {
        peer.path = printable(member.value.text);
      }
    }
  }
  return peer;
}

Peer peer_of_step(const Process& process, const Step& step) {
  if (step.call.name == "connect") {
    return peer_of(step.call);
  }
  const std::int64_t fd = step.call.descriptor("sockfd");
  const auto at = std::find_if(process.steps.rbegin(), process.steps.rend(), [&](const Step& other) {
    return other.call.name == "connect" && other.order < step.order && other.call.descriptor("sockfd") == fd;
  });
  return at == process.steps.rend() ? Peer() : peer_of(at->call);
}

std::string name_asked(const std::string& packet) {
  constexpr std::size_t header_size = 12;
  constexpr std::size_t max_label = 63;
  std::string name;
  std::size_t at = header_size;
  while (at < packet.size() && packet[at] != 0) {
    const auto length = static_cast<unsigned char>(packet[at]);
    if (length > max_label || at + 1 + length > packet.size()) {
      return {};
    }
    name += (name.empty() ? "" : ".") + packet.substr(at + 1, length);
    at += std::size_t{1} + length;
  }
  return at < packet.size() ? printable(name) : std::string();
}

}  // namespace tracer::explain
