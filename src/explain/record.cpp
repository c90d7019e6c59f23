#include "explain/record.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/text_buffer.h"
#include "format/escape.h"

namespace tracer::explain {

namespace {

/// True for contents of files and messages, which an explanation does not show.
bool is_buffer(const Argument& argument) {
  return argument.value.kind != Value::Kind::none &&
         (argument.type.find("bytes") != std::string::npos || argument.type.find("socket_data") != std::string::npos ||
          argument.name == "iov" || argument.name == "msg");
}

void append_members(std::string& out, const Value& value) {
  const char* separator = "";
  for (const Member& member : value.members) {
    out += separator;
    separator = ", ";
    if (!member.name.empty()) {
      out += member.name + "=";
    }
    out += to_text(member.value);
  }
}

}  // namespace

const Value& Value::operator[](std::string_view member) const {
  static const Value no_value;
  const auto at = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == member; });
  return at == members.end() ? no_value : at->value;
}

const Argument& Call::argument(std::string_view wanted) const {
  static const Argument no_argument;
  const auto at = std::find_if(args.begin(), args.end(), [&](const Argument& a) { return a.name == wanted; });
  return at == args.end() ? no_argument : *at;
}

std::int64_t Call::descriptor(std::string_view argument_name) const {
  const Value& value = argument(argument_name).value;
  return value.is_number() ? value.number : number_at<std::int64_t>(value.text).value_or(-1);
}

std::string printable(std::string_view bytes) {
  TextBuffer text;
  format::append_escaped(text, std::as_bytes(std::span(bytes.data(), bytes.size())));
  return std::string(text.view());
}

std::string to_text(const Value& value) {
  std::string out;
  switch (value.kind) {
    case Value::Kind::none:
      return "NULL";
    case Value::Kind::number:
      return std::to_string(value.number);
    case Value::Kind::words:
      return value.text;
    case Value::Kind::text: {
      TextBuffer text;
      format::append_escaped(text, std::as_bytes(std::span(value.text.data(), value.text.size())), "\"");
      return '"' + std::string(text.view()) + (value.cut ? "\"..." : "\"");
    }
    case Value::Kind::object:
      append_members(out, value);
      return '{' + out + '}';
    case Value::Kind::list:
      append_members(out, value);
      return '[' + out + ']';
  }
  return out;
}

std::string to_text(const Call& call, bool with_buffers) {
  std::string out = call.name + '(';
  const char* separator = "";
  for (const Argument& argument : call.args) {
    if (argument.name == "envp") {
      continue;  // the environment may hold secrets
    }
    out += separator;
    separator = ", ";
    out += is_buffer(argument) && !with_buffers ? "..." : to_text(argument.value);
  }
  out += ')';
  switch (call.outcome) {
    case CallOutcome::failed:
      return call.is_report ? out + " = 0" : out + " = -1 " + call.error;
    case CallOutcome::returned:
      return fmt::format("{} = {}", out, call.result);
    case CallOutcome::unfinished:
      return out;
  }
  return out;
}

}  // namespace tracer::explain
