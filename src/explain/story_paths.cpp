#include "explain/story_paths.h"

#include <algorithm>

namespace tracer::explain {

namespace {

const Argument* path_argument(const Call& call) {
  for (const Argument& argument : call.args) {
    if (argument.type == "path" && argument.value.kind == Value::Kind::text) {
      return &argument;
    }
  }
  const Argument& address = call.argument("addr");
  return address.value["sun_path"].kind == Value::Kind::text ? &address : nullptr;
}

std::string normal(const std::string& path) {
  std::string out;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, slash - at);
    at = slash + 1;
    if (!part.empty() && part != ".") {
      out += '/' + part;
    }
  }
  return out.empty() ? "/" : out + (path.back() == '/' ? "/" : "");
}

std::string absolute(const Process& process, const Moment& moment, const Call& call, std::string path) {
  if (!path.empty() && path.front() == '/') {
    return normal(path);
  }
  const Argument& directory = call.args.empty() ? Argument{} : call.args.front();
  std::string base = directory.type == "dirfd" ? directory.value.name : std::string();
  if (directory.type == "dirfd" && directory.value.is_number()) {
    if (base.empty() && moment.system != nullptr) {
      base = moment.system->descriptor(moment.tid, directory.value.number).value_or("");
    }
    if (const auto at = process.descriptors.find(directory.value.number);
        base.empty() && at != process.descriptors.end()) {
      base = at->second;
    }
  } else if (base.empty()) {
    base = moment.system != nullptr ? moment.system->current_directory(moment.tid) : std::string();
    if (base.empty()) {
      base = process.working_directory;
    }
  }
  return base.empty() || base.front() != '/' ? path : normal(base + '/' + path);
}

}  // namespace

std::string resolve_path(const Process& process, const Moment& moment, const Call& call) {
  const Argument* argument = path_argument(call);
  if (argument == nullptr) {
    const std::int64_t fd = std::max(call.descriptor("fd"), call.descriptor("sockfd"));
    const auto known = process.descriptors.find(fd);
    if (fd < 0) {
      return {};
    }
    const auto then = moment.system != nullptr ? moment.system->descriptor(moment.tid, fd) : std::nullopt;
    return then ? *then : known == process.descriptors.end() ? std::string() : known->second;
  }
  if (argument->value.kind == Value::Kind::object) {
    const std::string& path = argument->value["sun_path"].text;
    return path.empty() || path.front() == '@' || path.front() == '\0' ? path : absolute(process, moment, {}, path);
  }
  return absolute(process, moment, call, argument->value.text);
}

}  // namespace tracer::explain
