#include "explain/story_paths.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/number_text.h"

namespace tracer::explain {

namespace {

/// A path argument, and the directory descriptor before it that it is relative to.
struct PathArgument {
  const Argument* path = nullptr;
  const Argument* directory = nullptr;  ///< null: the working directory
};

std::vector<PathArgument> path_arguments(const Call& call) {
  std::vector<PathArgument> found;
  const Argument* directory = nullptr;
  for (const Argument& argument : call.args) {
    if (argument.type == "dirfd") {
      directory = &argument;
    } else if (argument.type == "path" && argument.value.kind == Value::Kind::text) {
      found.push_back({&argument, directory});
      directory = nullptr;
    }
  }
  return found;
}

/// Returns the number of a descriptor, which the decoder may have formatted as a constant; nullopt for AT_FDCWD.
std::optional<std::int64_t> descriptor_number(const Value& value) {
  return value.is_number() ? std::optional(value.number) : number_at<std::int64_t>(value.text);
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

std::string absolute(const Process& process, const Moment& moment, const Argument* directory, const std::string& path) {
  if (!path.empty() && path.front() == '/') {
    return normal(path);
  }
  std::string base = directory != nullptr ? directory->value.name : std::string();
  if (const auto fd = directory != nullptr ? descriptor_number(directory->value) : std::nullopt) {
    if (base.empty() && moment.system != nullptr) {
      base = moment.system->descriptor(moment.tid, *fd).value_or("");
    }
    if (const auto at = process.descriptors.find(*fd); base.empty() && at != process.descriptors.end()) {
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
  if (const auto paths = path_arguments(call); !paths.empty()) {
    return absolute(process, moment, paths.front().directory, paths.front().path->value.text);
  }
  if (const Value& socket = call.argument("addr").value["sun_path"]; socket.kind == Value::Kind::text) {
    const std::string& path = socket.text;
    return path.empty() || path.front() == '@' || path.front() == '\0' ? path
                                                                       : absolute(process, moment, nullptr, path);
  }
  const bool is_socket = call.descriptor("sockfd") >= 0;
  const std::int64_t fd = is_socket ? call.descriptor("sockfd") : call.descriptor("fd");
  if (fd < 0) {
    return {};
  }
  // A file that was opened is no socket: the number belongs to another one by now.
  const auto known = is_socket ? process.descriptors.end() : process.descriptors.find(fd);
  const auto then = moment.system != nullptr ? moment.system->descriptor(moment.tid, fd) : std::nullopt;
  return then ? *then : known == process.descriptors.end() ? std::string() : known->second;
}

std::string absolute_path(const Process& process, const Moment& moment, const std::string& path) {
  return absolute(process, moment, nullptr, path);
}

std::string resolve_new_path(const Process& process, const Moment& moment, const Call& call) {
  const auto paths = path_arguments(call);
  return paths.size() < 2 ? std::string() : absolute(process, moment, paths[1].directory, paths[1].path->value.text);
}

}  // namespace tracer::explain
