#include "base/directory.h"

#include <dirent.h>

#include <memory>
#include <string_view>

namespace tracer {
inline namespace base {

bool for_each_entry(const std::string& directory, const std::function<bool(const char* name)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (stream == nullptr) {
    return false;
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !visit(entry->d_name)) {
      break;
    }
  }
  return true;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace base
}  // namespace tracer
