// A library that only few options need, loaded when one of them asks for it. Linked, every start would pay for it: the
// dynamic linker maps and relocates it, and runs what it initialises. Not for static programs, which load nothing.
#pragma once

#include "base/result.h"

namespace tracer {
inline namespace base {

class SharedLibrary {
 public:
  /// Loads it; it stays until the program ends. `file` is its name for the dynamic linker (DT_SONAME), `package` the
  /// Debian package that has it.
  SharedLibrary(const char* file, const char* package);

  /// Makes `function` the library's function called `name`, or null.
  template <typename Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(address_of(name));
  }

  /// Whether the library was loaded and everything was found; the error says how to get it.
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
