#include "process/launch_options.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tracer::process {

Result<std::string> find_program(const std::string& name) {
  std::string candidate = name;
  struct stat info;
  if (name.find('/') == std::string::npos) {
    const char* path = ::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    for (;;) {
      const std::size_t colon = rest.find(':');
      const std::string_view directory = rest.substr(0, colon);
      candidate = directory.empty() ? name : std::string(directory) + "/" + name;
      if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0) {
        return candidate;
      }
      if (colon == std::string_view::npos) {
        break;
      }
      rest.remove_prefix(colon + 1);
    }
    candidate = name;
    errno = ENOENT;
  } else if (::stat(candidate.c_str(), &info) == 0) {
    return candidate;
  }
  const int why = errno;
  return Error{why, "Can't stat '" + candidate + "': " + std::strerror(why)};
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
