#include "base/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cerrno>

namespace tracer {
inline namespace base {

SharedLibrary::SharedLibrary(const char* file, const char* package)
    : handle_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)), file_(file), package_(package) {
  if (handle_ == nullptr) {
    status_ = Error{ENOENT, fmt::format("{} cannot be loaded; install the package {}", file_, package_)};
  }
}

void* SharedLibrary::address_of(const char* name) {
  void* const address = handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
  if (address == nullptr && status_) {
    status_ = Error{ENOTSUP, fmt::format("{} has no {}; update the package {}", file_, name, package_)};
  }
  return address;
}

}  // namespace base
}  // namespace tracer
