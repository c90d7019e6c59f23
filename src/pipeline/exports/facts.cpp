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
