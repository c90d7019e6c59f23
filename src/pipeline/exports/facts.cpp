#include "pipeline/exports/facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace tracer::pipeline::exports {

namespace {

/// Returns the value of the first argument whose type ends with one of these words.
const json_t* argument_of_type(const json_t* arguments, std::initializer_list<std::string_view> types) {
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* each = json_array_get(arguments, i);
    const std::string_view type = text_of(json_object_get(each, "type"));
    if (std::find(types.begin(), types.end(), type) != types.end()) {
      return json_object_get(each, "value");
    }
  }
  return nullptr;
}

}  // namespace

std::string_view unfinished(Call::End end) {
  switch (end) {
    case Call::End::returned:
      break;
    case Call::End::exit:
      return "exit";
    case Call::End::unwound:
      return "unwound";
    case Call::End::detach:
      return "detach";
  }
  return {};
}

std::string frame_text(const trace::StackFrame& frame) {
  switch (frame.kind) {
    case trace::StackFrame::Kind::unknown:
      return fmt::format("{:#x}", frame.address);
    case trace::StackFrame::Kind::limit:
      return "…";
    case trace::StackFrame::Kind::cycle:
      return "(cycle)";
    case trace::StackFrame::Kind::code:
      break;
  }
  const std::string file = printable(frame.file.substr(frame.file.rfind('/') + 1));
  std::string text = frame.symbol.empty()
                         ? fmt::format("{}+{:#x}", file, frame.file_offset)
                         : fmt::format("{}({}+{:#x})", file, printable(frame.symbol), frame.symbol_offset);
  if (!frame.source.empty()) {
    text += fmt::format(" {}:{}", printable(frame.source), frame.line);
  }
  return text;
}

const json_t* path_argument(const json_t* arguments) {
  return argument_of_type(arguments, {"path"});
}

const json_t* descriptor_argument(const json_t* arguments) {
  return argument_of_type(arguments, {"fd", "dirfd"});
}

namespace {

/// What stands between the last two of some signs: `80` in `htons(80)`.
std::string_view between(std::string_view text, char open, char close) {
  const std::size_t end = text.rfind(close);
  const std::size_t start = end == std::string_view::npos || end == 0 ? end : text.rfind(open, end - 1);
  return start == std::string_view::npos ? std::string_view() : text.substr(start + 1, end - start - 1);
}

/// An address of the internet with its port, or a path; empty if it is neither.
std::string address_text(const json_t* address) {
  const auto member = [address](const char* name) { return text_of(json_object_get(address, name)); };
  const std::string_view v4 = between(member("sin_addr"), '"', '"');
  const std::string_view v6 = between(member("sin6_addr"), '"', '"');
  if (!v4.empty()) {
    return fmt::format("{}:{}", v4, between(member("sin_port"), '(', ')'));
  }
  if (!v6.empty()) {
    return fmt::format("[{}]:{}", v6, between(member("sin6_port"), '(', ')'));
  }
  bool cut = false;
  return printable(bytes_of(json_object_get(address, "sun_path"), cut));
}

}  // namespace

std::string name_with_address(std::string_view socket, std::string_view call, const json_t* arguments) {
  const std::size_t inode = socket.find(":[");
  const bool has_inode = inode != std::string_view::npos && inode + 2 < socket.size() && socket.ends_with(']') &&
                         socket.find_first_not_of("0123456789", inode + 2) == socket.size() - 1;
  if (!has_inode) {
    return {};
  }
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* argument = json_array_get(arguments, i);
    if (text_of(json_object_get(argument, "type")).find("sockaddr") != std::string_view::npos) {
      const std::string address = address_text(bare(json_object_get(argument, "value")));
      return address.empty() ? address
                             : fmt::format("{}:[{}{}]", socket.substr(0, inode), call == "bind" ? "" : "->", address);
    }
  }
  return {};
}

int byte_direction(std::string_view call) {
  constexpr std::array<std::string_view, 9> receive = {"read", "pread64",  "readv",   "preadv",   "preadv2",
                                                       "recv", "recvfrom", "recvmsg", "getrandom"};
  constexpr std::array<std::string_view, 8> transmit = {"write",    "pwrite64", "writev", "pwritev",
                                                        "pwritev2", "send",     "sendto", "sendmsg"};
  if (std::find(receive.begin(), receive.end(), call) != receive.end()) {
    return 1;
  }
  return std::find(transmit.begin(), transmit.end(), call) != transmit.end() ? -1 : 0;
}

}  // namespace tracer::pipeline::exports
