// Loads a shared library when an option needs it. Linking it would slow every start, because the dynamic linker would
// map it, relocate it and run its constructors. Statically linked builds cannot use this.
#pragma once

#include "base/result.h"

namespace tracer {
inline namespace base {

class SharedLibrary {
 public:
  /// Loads the library, which is never unloaded. `file` is its DT_SONAME, `package` the Debian package that contains
  /// it.
  SharedLibrary(const char* file, const char* package);

  /// Sets `function` to the library's function `name`, or to null if there is none.
  template <typename Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(address_of(name));
  }

  /// An error if the library or one of its functions was not found; its message names the package to install.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void* address_of(const char* name);

  void* handle_;
  const char* file_;
  const char* package_;
  Status status_ = Done{};
};

}  // namespace base
}  // namespace tracer
