#include "names/generic_families.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <span>

namespace tracer::names {
namespace {

struct Query {
  nlmsghdr header;
  genlmsghdr command;
  nlattr attribute;
  std::uint16_t number;
  std::uint16_t padding;
};

/// Returns the name in the answer about one family, which consists of two headers and attributes.
std::string_view name_in(std::span<const char> answer) {
  nlmsghdr header{};
  if (answer.size() < sizeof(header)) {
    return {};
  }
  std::memcpy(&header, answer.data(), sizeof(header));
  if (header.nlmsg_type != GENL_ID_CTRL || header.nlmsg_len > answer.size()) {
    return {};
  }
  for (std::size_t at = NLMSG_HDRLEN + GENL_HDRLEN; at + sizeof(nlattr) <= header.nlmsg_len;) {
    nlattr attribute{};
    std::memcpy(&attribute, answer.data() + at, sizeof(attribute));
    if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > header.nlmsg_len - at) {
      break;
    }
    if (attribute.nla_type == CTRL_ATTR_FAMILY_NAME) {
      const std::string_view text(answer.data() + at + sizeof(attribute), attribute.nla_len - sizeof(attribute));
      return text.substr(0, text.find('\0'));
    }
    at += NLA_ALIGN(attribute.nla_len);
  }
  return {};
}

}  // namespace

std::string_view GenericFamilies::name(std::uint16_t number) {
  if (const auto found = known_.find(number); found != known_.end()) {
    return found->second;
  }
  auto answer = number < GENL_MIN_ID ? std::string() : ask(number);
  return answer.empty() ? std::string_view() : known_.emplace(number, std::move(answer)).first->second;
}

std::string GenericFamilies::ask(std::uint16_t number) {
  if (!socket_.valid()) {
    socket_.reset(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
  }
  Query query{};
  query.header.nlmsg_len = sizeof(query);
  query.header.nlmsg_type = GENL_ID_CTRL;
  query.header.nlmsg_flags = NLM_F_REQUEST;
  query.command.cmd = CTRL_CMD_GETFAMILY;
  query.command.version = 1;
  query.attribute.nla_len = sizeof(nlattr) + sizeof(query.number);
  query.attribute.nla_type = CTRL_ATTR_FAMILY_ID;
  query.number = number;
  alignas(nlmsghdr) std::array<char, 16384> answer{};
  if (send(socket_.get(), &query, sizeof(query), 0) != static_cast<ssize_t>(sizeof(query))) {
    return {};
  }
  // The kernel answers during the send.
  const auto length = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  return length <= 0 ? std::string() : std::string(name_in(std::span(answer).first(static_cast<std::size_t>(length))));
}

}  // namespace tracer::names
