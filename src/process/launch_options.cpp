#include "process/launch_options.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tracer::process {

namespace {

bool is_executable(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0;
}

/// The name in this directory, which an empty part of PATH stands for.
std::string here(const std::string& name) {
  std::error_code failed;
  const auto directory = std::filesystem::current_path(failed);
  return failed ? name : (directory / name).string();
}

/// Searches PATH as strace does: an empty part at its end is none.
Result<std::string> search_path(const std::string& name) {
  const char* path = ::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    const std::string candidate = directory.empty() ? here(name) : std::string(directory) + "/" + name;
    if (is_executable(candidate)) {
      return candidate;
    }
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
  }
  return Error{ENOENT, "Cannot find executable '" + name + "'"};
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.size() >= PATH_MAX) {
    return Error{ENAMETOOLONG, std::string("exec: ") + std::strerror(ENAMETOOLONG)};
  }
  if (name.find('/') == std::string::npos) {
    return search_path(name);
  }
  struct stat info;
  if (::stat(name.c_str(), &info) == 0) {
    return name;
  }
  const int why = errno;
  return Error{why, "Cannot stat '" + name + "': " + std::strerror(why)};
}

Result<Identity> find_identity(const std::string& user) {
  Identity identity;
  const passwd* entry = ::getpwnam(user.c_str());
  if (entry == nullptr) {
    const bool pair = user.find(':') != std::string::npos;
    return Error{0, (pair ? "Invalid UID:GID pair '" : "Cannot find user '") + user + "'"};
  }
  identity.uid = entry->pw_uid;
  identity.gid = entry->pw_gid;
  int count = NGROUPS_MAX;
  identity.groups.resize(static_cast<std::size_t>(count));
  ::getgrouplist(user.c_str(), identity.gid, identity.groups.data(), &count);
  identity.groups.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return identity;
}

}  // namespace tracer::process
